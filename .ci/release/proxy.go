package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
	"golang.org/x/mod/zip"
)

const repository = "github.com/stint-go/stint"

// A released is a module of the repository.
type released struct{ dir string } // "": the root

// modules are in the order of their requirements.
var modules = []released{{""}, {"cluster"}, {"cluster/embedded"}, {"cmd/stint"}, {"vet"}, {"lab"}}

func (m released) path() string { return strings.TrimSuffix(repository+"/"+m.dir, "/") }

// tag returns the name of the tag, as the go command wants it.
func (m released) tag(version string) string { return strings.TrimPrefix(m.dir+"/"+version, "/") }

// A proxy is a directory that the go command reads as a module proxy.
type proxy struct{ dir, tree, cache, version string }

// env returns the environment in which the go command sees the modules of the proxy, and
// those of others from the module cache of this machine or from the network. It has a module
// cache of its own: what is rehearsed must not stay in that of this machine.
func (p *proxy) env() []string {
	return []string{
		"GOMODCACHE=" + p.cache, "GOWORK=off", "GOTOOLCHAIN=local",
		"GOPROXY=file://" + filepath.ToSlash(p.dir) + "," + others(),
		"GONOSUMDB=" + repository + "," + repository + "/*", "GOSUMDB=off", // the go.sum files of the repository have been checked
		"GONOPROXY=none", "GOPRIVATE=",
	}
}

// others returns where the modules of others are.
func others() string {
	out, err := exec.Command("go", "env", "GOMODCACHE", "GOPROXY").Output()
	if err != nil {
		panic(err)
	}
	words := strings.Fields(string(out))
	return "file://" + filepath.ToSlash(words[0]) + "/cache/download," + words[1]
}

// write writes the version into the go.mod files of the tree, and into go.work, which is a
// file of the root module and replaces that version by the tree.
func (p *proxy) write() error {
	for _, m := range modules {
		dir := filepath.Join(p.tree, m.dir)
		if err := p.require(filepath.Join(dir, "go.mod")); err != nil {
			return err
		}
		if err := forget(filepath.Join(dir, "go.sum")); err != nil {
			return err
		}
	}
	name := filepath.Join(p.tree, "go.work")
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	f, err := modfile.ParseWork(name, text, nil)
	if err != nil {
		return err
	}
	work := string(text)
	for _, r := range f.Replace {
		work = strings.Replace(work, r.Old.Path+" "+r.Old.Version+" =>", r.Old.Path+" "+p.version+" =>", 1)
	}
	return os.WriteFile(name, []byte(work), 0o666)
}

// forget removes what a go.sum file says of our modules: a rehearsal may have the version of
// a release.
func forget(name string) error {
	text, err := os.ReadFile(name)
	if os.IsNotExist(err) {
		return nil
	}
	if err != nil {
		return err
	}
	var kept strings.Builder
	for line := range strings.Lines(string(text)) {
		if !strings.HasPrefix(line, repository+" ") && !strings.HasPrefix(line, repository+"/") {
			kept.WriteString(line)
		}
	}
	return os.WriteFile(name, []byte(kept.String()), 0o666)
}

// add adds a module to the proxy, when those that it requires are there.
func (p *proxy) add(m released) error {
	dir := filepath.Join(p.tree, m.dir)
	if err := command(dir, append(p.env(), "GOFLAGS=-mod=mod -modcacherw"), "go", "mod", "tidy"); err != nil {
		return err
	}
	mod, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err != nil {
		return err
	}
	at := filepath.Join(p.dir, filepath.FromSlash(m.path()), "@v")
	if err := os.MkdirAll(at, 0o777); err != nil {
		return err
	}
	f, err := os.Create(filepath.Join(at, p.version+".zip"))
	if err != nil {
		return err
	}
	defer f.Close()
	if err := zip.CreateFromDir(f, module.Version{Path: m.path(), Version: p.version}, dir); err != nil {
		return err
	}
	info := fmt.Sprintf(`{"Version":%q,"Time":%q}`, p.version, time.Now().UTC().Format(time.RFC3339))
	for name, text := range map[string]string{p.version + ".mod": string(mod), p.version + ".info": info, "list": p.version + "\n"} {
		if err := os.WriteFile(filepath.Join(at, name), []byte(text), 0o666); err != nil {
			return err
		}
	}
	return f.Close()
}

// require makes a go.mod file require the version of our modules.
func (p *proxy) require(name string) error {
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	f, err := modfile.Parse(name, text, nil)
	if err != nil {
		return err
	}
	for _, m := range modules {
		for _, r := range f.Require {
			if r.Mod.Path == m.path() {
				if err := f.AddRequire(m.path(), p.version); err != nil {
					return err
				}
			}
		}
	}
	f.Cleanup()
	text, err = f.Format()
	if err != nil {
		return err
	}
	return os.WriteFile(name, text, 0o666)
}
