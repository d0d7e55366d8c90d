package house

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
)

// modulePath is the path of the root module. The other modules add their directory.
const modulePath = "github.com/stint-go/stint"

// released are the modules that callers import, by directory.
var released = []string{".", "cluster", "cluster/embedded"}

// public are the packages that callers import.
var public = []string{".", "par", "stream", "errgroup", "debug", "cluster", "cluster/embedded"}

// testPackages are for tests: their files count as test files, and only tests import them.
var testPackages = []string{"internal/goroutine", "internal/testkit", "internal/workload", "internal/conformance"}

// unread are directories outside the project, or with wrong code on purpose.
var unread = []string{".git", "out", "testdata", "vendor"}

// A tree is the repository as the rules see it. Paths are relative to the top and have
// slashes; the top is ".".
type tree struct {
	fsys  fs.FS
	fset  *token.FileSet
	files []*file         // text files, in the order of their paths
	mods  map[string]bool // the directories with a go.mod
}

// A file is a text file of the tree.
type file struct {
	tree   *tree
	path   string
	text   string
	syntax *ast.File // nil unless it is Go
}

// read reads a tree. A file with a NUL byte is binary and left out.
func read(fsys fs.FS) (*tree, error) {
	t := &tree{fsys: fsys, fset: token.NewFileSet(), mods: map[string]bool{}}
	err := fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && slices.Contains(unread, d.Name()):
			return fs.SkipDir
		case !d.Type().IsRegular():
			return nil
		}
		text, err := fs.ReadFile(fsys, name)
		if err != nil || bytes.IndexByte(text, 0) >= 0 {
			return err
		}
		f := &file{tree: t, path: name, text: string(text)}
		if path.Ext(name) == ".go" {
			f.syntax, err = parser.ParseFile(t.fset, name, text, parser.ParseComments|parser.SkipObjectResolution)
		}
		t.files = append(t.files, f)
		t.mods[f.dir()] = t.mods[f.dir()] || path.Base(name) == "go.mod"
		return err
	})
	return t, err
}

func all(*file) bool { return true }

// golang returns the Go files that ok accepts, and markdown the texts for people.
func (t *tree) golang(ok func(*file) bool) []*file {
	return slices.DeleteFunc(slices.Clone(t.files), func(f *file) bool { return f.syntax == nil || !ok(f) })
}

func (t *tree) markdown() []*file {
	return slices.DeleteFunc(slices.Clone(t.files), func(f *file) bool { return path.Ext(f.path) != ".md" })
}

// nodes returns what fault says of the nodes of the files that ok accepts.
func (t *tree) nodes(ok func(*file) bool, fault func(*file, ast.Node) string) []string {
	var bad []string
	for _, f := range t.golang(ok) {
		for n := range ast.Preorder(f.syntax) {
			if what := fault(f, n); what != "" {
				bad = append(bad, f.at(n, "%s", what))
			}
		}
	}
	return bad
}

// module returns the directory of the module that name is in.
func (t *tree) module(name string) string {
	dir := path.Dir(name)
	for dir != "." && !t.mods[dir] {
		dir = path.Dir(dir)
	}
	return dir
}

// dir is the directory of f, which names its package in the tables.
func (f *file) dir() string    { return path.Dir(f.path) }
func (f *file) module() string { return f.tree.module(f.path) }

// test reports whether f is compiled for tests only.
func (f *file) test() bool {
	return strings.HasSuffix(f.path, "_test.go") || slices.Contains(testPackages, f.dir())
}

// released reports whether f is code that callers import, directly or not.
func (f *file) released() bool { return !f.test() && slices.Contains(released, f.module()) }

func (f *file) line(p token.Pos) int { return f.tree.fset.Position(p).Line }

// source returns the text of f between two positions.
func (f *file) source(from, to token.Pos) string {
	return f.text[f.tree.fset.Position(from).Offset:f.tree.fset.Position(to).Offset]
}

// at and on describe a violation at a node, and on a line.
func (f *file) at(n ast.Node, format string, args ...any) string {
	return f.on(f.line(n.Pos()), format, args...)
}

func (f *file) on(line int, format string, args ...any) string {
	return fmt.Sprintf("%s:%d: %s", f.path, line, fmt.Sprintf(format, args...))
}

// refers reports whether n is one of names in a package of that name. No names means any.
func (f *file) refers(n ast.Node, pkg string, names ...string) bool {
	sel, ok := n.(*ast.SelectorExpr)
	if !ok || len(names) > 0 && !slices.Contains(names, sel.Sel.Name) {
		return false
	}
	x, ok := sel.X.(*ast.Ident)
	return ok && x.Name == pkg
}

// covers reports whether a pattern means a directory, as in go list.
func covers(pattern, dir string) bool {
	above, all := strings.CutSuffix(pattern, "/...")
	return dir == above || all && strings.HasPrefix(dir, above+"/")
}

// inAny reports whether a pattern of the list covers a directory.
func inAny(patterns []string, dir string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return covers(p, dir) })
}

// repository reads the repository, once for all tests.
var repository = sync.OnceValues(func() (*tree, error) { return read(os.DirFS("../..")) })

// A sample is a tree of some lines, and what a rule must say about it.
type sample struct {
	name  string
	files map[string]string
	want  string // a part of the only violation; "" where there is none
}

// verify runs a rule on samples, which show that it can fail, and on the repository.
func verify(t *testing.T, rule func(*tree) []string, samples ...sample) {
	t.Helper()
	try(t, rule, samples...)
	hold(t, rule)
}

// try runs a rule on samples. A rule with a table is tried with a table of its own.
func try(t *testing.T, rule func(*tree) []string, samples ...sample) {
	t.Helper()
	for _, s := range samples {
		fsys := fstest.MapFS{}
		for name, text := range s.files {
			fsys[name] = &fstest.MapFile{Data: []byte(text)}
		}
		small, err := read(fsys)
		if err != nil {
			t.Fatal(err)
		}
		got := rule(small)
		if len(got) > 1 || (len(got) == 1) != (s.want != "") || s.want != "" && !strings.Contains(got[0], s.want) {
			t.Errorf("the rule is broken: sample %q: got %q, want %q", s.name, got, s.want)
		}
	}
}

// hold runs a rule on the repository.
func hold(t *testing.T, rule func(*tree) []string) {
	t.Helper()
	whole, err := repository()
	if err != nil {
		t.Fatal(err)
	}
	for _, violation := range rule(whole) {
		t.Error(violation)
	}
}

// one returns a tree of one file.
func one(name, text string) map[string]string { return map[string]string{name: text} }

// use returns the text of a file that imports one package of ours.
func use(dir string) string {
	return "package p\n\nimport \"" + path.Join(modulePath, dir) + "\"\n"
}
