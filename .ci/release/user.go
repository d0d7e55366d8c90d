package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// A user does what readers of the README do, in directories of its own.
type user struct {
	dir, tree, version string
	env                []string
}

func (u *user) all() error {
	for _, step := range []func() error{u.installs, u.vets, u.changesTheImport, u.asks, u.runsThePages, u.clones} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// installs installs the command and uses it.
func (u *user) installs() error {
	dir, err := u.install("cmd/stint")
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "a"), nil, 0o666); err != nil {
		return err
	}
	stint := filepath.Join(dir, "stint")
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{stint, "--version"}, u.version},
		{[]string{stint, "run", "echo", ":::", "1", "2"}, "1\n2\n"},
		{[]string{stint, "sum", "a"}, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855  a\n"},
	} {
		if got, err := output(dir, c.args...); err != nil || !strings.Contains(got, c.want) {
			return fmt.Errorf("%q printed %q, %v; want %q", c.args, got, err, c.want)
		}
	}
	return nil
}

// install installs a command into a directory of its own. For an exact version the go command would
// ask no proxy for the command's module once its cache has the root module of that version.
func (u *user) install(path string) (dir string, err error) {
	dir = filepath.Join(u.dir, "install", filepath.Base(path))
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return "", err
	}
	env := append(u.env, "GOBIN="+dir, "GOFLAGS=-trimpath -modcacherw")
	return dir, command(dir, env, "go", "install", repository+"/"+path+"@latest")
}

// withTrap starts a task in a task of its own group.
const withTrap = `package main

import (
	"context"

	"github.com/stint-go/stint"
)

func main() {
	g := stint.NewGroup(context.Background())
	g.Go(func(ctx context.Context) error {
		g.Go(func(context.Context) error { return nil })
		return nil
	})
	g.Wait()
}
`

// vets installs stintvet, which finds the trap of a program.
func (u *user) vets() error {
	dir, err := u.install("vet/stintvet")
	if err != nil {
		return err
	}
	if err := u.program("trap", withTrap); err != nil {
		return err
	}
	cmd := exec.Command("go", "vet", "-vettool="+filepath.Join(dir, "stintvet"), ".")
	cmd.Dir, cmd.Env = filepath.Join(u.dir, "trap"), append(os.Environ(), u.env...)
	if got, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(got), "main.go:12:3: g.Go in a task of g") {
		return fmt.Errorf("%q printed %q, %v; want a trap", cmd.Args, got, err)
	}
	return nil
}

// clones looks up all packages in the workspace of the clone, which has the modules themselves
// for the versions that are not published yet.
func (u *user) clones() error {
	env := append(u.env, "GOWORK=", "GOPROXY="+others(), "GOFLAGS=-mod=readonly -modcacherw")
	_, err := outputIn(u.tree, env, "go", "list", "-deps", "work")
	return err
}

// of errgroup, as its documentation has it.
const withErrgroup = `package main

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/sync/errgroup"
)

func main() {
	g, ctx := errgroup.WithContext(context.Background())
	g.SetLimit(2)
	for i := range 10 {
		g.Go(func() error {
			if i == 3 {
				return errors.New("3 failed")
			}
			return ctx.Err()
		})
	}
	fmt.Println(g.Wait())
	// Output: 3 failed
}
`

// changesTheImport builds a program that uses errgroup with another import.
func (u *user) changesTheImport() error {
	return u.program("errgroup", strings.Replace(withErrgroup, "golang.org/x/sync/errgroup", repository+"/errgroup", 1))
}

// withAdvise is a test of the user that measures a function.
const withAdvise = `package wait

import (
	"context"
	"testing"
	"time"

	"github.com/stint-go/stint/advise"
)

func TestConcurrently(t *testing.T) {
	report, err := advise.Run(t.Context(), 20, func(context.Context, int) error {
		time.Sleep(time.Millisecond)
		return nil
	})
	if err != nil || report.Answer == advise.No {
		t.Errorf("%v, %s", err, report)
	}
}
`

// asks runs a test that asks package advise.
func (u *user) asks() error {
	dir, env, err := u.module("advise", "wait_test.go", withAdvise)
	if err != nil {
		return err
	}
	return command(dir, env, "go", "test", "-v", ".")
}

// imports are the packages that code of the manual uses, by name.
var imports = map[string]string{
	"stint": repository, "par": repository + "/par", "stream": repository + "/stream", "debug": repository + "/debug",
	"cluster": repository + "/cluster", "embedded": repository + "/cluster/embedded", "httplimit": repository + "/httplimit",
	"context": "context", "errors": "errors", "fmt": "fmt", "http": "net/http", "os": "os", "strconv": "strconv", "strings": "strings",
	"time": "time", "sync": "sync", "atomic": "sync/atomic", "log": "log", "slices": "slices", "iter": "iter", "bufio": "bufio", "io": "io",
}

var goBlock = regexp.MustCompile("(?ms)^```go\n(.*?)^```")

// pages have Go code. Together they use the root module, cluster and cluster/embedded.
var pages = []string{"docs/start.md", "docs/cluster.md"}

// runsThePages runs each piece of Go code of the pages, as a program of its own.
func (u *user) runsThePages() error {
	for _, page := range pages {
		text, err := os.ReadFile(filepath.Join(u.tree, filepath.FromSlash(page)))
		if err != nil {
			return err
		}
		blocks := goBlock.FindAllSubmatch(text, -1)
		if len(blocks) == 0 {
			return fmt.Errorf("%s has no code", page)
		}
		for i, b := range blocks {
			name := fmt.Sprintf("%s-%d", strings.TrimSuffix(filepath.Base(page), ".md"), i+1)
			if err := u.program(name, program(string(b[1]))); err != nil {
				return err
			}
		}
	}
	return nil
}

// program makes a program of code that is not one.
func program(code string) string {
	if strings.Contains(code, "package main") {
		return code
	}
	var b strings.Builder
	b.WriteString("package main\n\nimport (\n")
	var paths []string
	for name, path := range imports {
		if regexp.MustCompile(`\b` + name + `\.`).MatchString(code) {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	for _, path := range paths {
		fmt.Fprintf(&b, "\t%q\n", path)
	}
	b.WriteString(")\n\n")
	if strings.Contains(code, "func main()") {
		b.WriteString(code)
	} else {
		b.WriteString("func main() {\n" + code + "}\n")
	}
	return b.String()
}

var wantOutput = regexp.MustCompile(`(?ms)^\s*// Output:(.*?)(^\s*[^/\s]|\z)`)

// module makes a module with one file, which requires the released versions. It returns the directory
// of the module, and the environment for the go command there.
func (u *user) module(name, file, code string) (dir string, env []string, err error) {
	dir, env = filepath.Join(u.dir, name), append(u.env, "GOFLAGS=-trimpath -modcacherw")
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return "", nil, err
	}
	if err := os.WriteFile(filepath.Join(dir, file), []byte(code), 0o666); err != nil {
		return "", nil, err
	}
	if err := command(dir, env, "go", "mod", "init", "example.com/"+name); err != nil {
		return "", nil, err
	}
	for _, m := range modules[:3] {
		if strings.Contains(code, `"`+m.path()+`"`) || m.dir == "" {
			if err := command(dir, env, "go", "get", m.path()+"@"+u.version); err != nil {
				return "", nil, err
			}
		}
	}
	return dir, env, nil
}

// program runs a program in a module of its own, and compares its output with that in its last
// comment, if it has one.
func (u *user) program(name, code string) error {
	dir, env, err := u.module(name, "main.go", code)
	if err != nil {
		return err
	}
	if err := command(dir, env, "go", "build", "-o", "program", "."); err != nil {
		return fmt.Errorf("%s:\n%s\n%w", name, code, err)
	}
	cmd := exec.Command(filepath.Join(dir, "program"))
	cmd.Dir, cmd.Stderr = dir, os.Stderr
	got, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if m := wantOutput.FindStringSubmatch(code); m != nil {
		if want := uncommented(m[1]); !bytes.Equal(bytes.TrimSpace(got), []byte(want)) {
			return fmt.Errorf("%s printed %q, want %q", name, got, want)
		}
	}
	return nil
}

// uncommented returns the text of the lines of a comment.
func uncommented(s string) string {
	var lines []string
	for line := range strings.Lines(s) {
		lines = append(lines, strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(line), "//")))
	}
	return strings.TrimSpace(strings.Join(lines, "\n"))
}
