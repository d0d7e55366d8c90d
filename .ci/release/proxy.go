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
var modules = []released{{""}, {"cluster"}, {"cluster/embedded"}, {"cmd/stint"}, {"lab"}}

func (m released) path() string { return strings.TrimSuffix(repository+"/"+m.dir, "/") }

// tag returns the name of the tag, as the go command wants it.
func (m released) tag(version string) string { return strings.TrimPrefix(m.dir+"/"+version, "/") }

// A proxy is a directory that the go command reads as a module proxy.
type proxy struct{ dir, tree, version string }

// env returns the environment in which the go command sees the modules of the proxy, and
// those of others from the module cache of this machine or from the network.
func (p *proxy) env(cache string) []string {
	out, err := exec.Command("go", "env", "GOMODCACHE", "GOPROXY").Output()
	if err != nil {
		panic(err)
	}
	words := strings.Fields(string(out))
	env := []string{
		"GOWORK=off", "GOTOOLCHAIN=local",
		"GOPROXY=file://" + filepath.ToSlash(p.dir) + ",file://" + filepath.ToSlash(words[0]) + "/cache/download," + words[1],
		"GONOSUMDB=" + repository + "," + repository + "/*", "GOSUMDB=off", // the go.sum files of the repository have been checked
		"GONOPROXY=none", "GOPRIVATE=",
	}
	if cache != "" {
		env = append(env, "GOMODCACHE="+cache)
	}
	return env
}

// add writes the version into the go.mod file of a module, and adds the module to the
// proxy.
func (p *proxy) add(m released) error {
	dir := filepath.Join(p.tree, m.dir)
	if err := p.require(filepath.Join(dir, "go.mod")); err != nil {
		return err
	}
	if err := command(dir, append(p.env(""), "GOFLAGS=-mod=mod"), "go", "mod", "tidy"); err != nil {
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

// require makes a go.mod file require the version of our modules, without replace
// lines.
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
		for _, r := range f.Replace {
			if r.Old.Path == m.path() {
				if err := f.DropReplace(m.path(), r.Old.Version); err != nil {
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
