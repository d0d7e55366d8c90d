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
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
)

// modulePath is the path of the root module. Every other module of the
// repository lives in a directory of it, and its path says which.
const modulePath = "github.com/stint-go/stint"

// A tree is the repository as the rules see it. Paths are relative to the top
// and have slashes; the top itself is ".".
type tree struct {
	fsys   fs.FS
	fset   *token.FileSet
	files  []*file  // text files, in the order of their paths
	broken []string // Go files that do not parse; the other rules do not see them
}

// A file is a text file of the tree.
type file struct {
	path   string
	text   string
	syntax *ast.File // nil unless it is Go
	fset   *token.FileSet
}

// unread are directories that are not read: they are no part of the project,
// or hold what is wrong on purpose.
var unread = map[string]bool{".git": true, "out": true, "testdata": true, "vendor": true}

// read reads a tree. A file with a NUL byte is taken for a binary and left out.
func read(fsys fs.FS) (*tree, error) {
	t := &tree{fsys: fsys, fset: token.NewFileSet()}
	err := fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && unread[d.Name()]:
			return fs.SkipDir
		case !d.Type().IsRegular():
			return nil
		}
		text, err := fs.ReadFile(fsys, name)
		if err == nil && bytes.IndexByte(text, 0) < 0 {
			t.add(name, string(text))
		}
		return err
	})
	return t, err
}

// add puts one file into the tree, parsed if it is Go.
func (t *tree) add(name, text string) {
	f := &file{path: name, text: text, fset: t.fset}
	if path.Ext(name) == ".go" {
		syntax, err := parser.ParseFile(t.fset, name, text, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			t.broken = append(t.broken, fmt.Sprintf("%v: does not parse; the other rules do not see this file", err))
			return
		}
		f.syntax = syntax
	}
	t.files = append(t.files, f)
}

// file returns the file with that path, or nil.
func (t *tree) file(name string) *file {
	for _, f := range t.files {
		if f.path == name {
			return f
		}
	}
	return nil
}

// golang returns the Go files that ok accepts; a nil ok accepts all.
func (t *tree) golang(ok func(*file) bool) []*file {
	var out []*file
	for _, f := range t.files {
		if f.syntax != nil && (ok == nil || ok(f)) {
			out = append(out, f)
		}
	}
	return out
}

// dirs returns the directories that hold Go files which ok accepts.
func (t *tree) dirs(ok func(*file) bool) []string {
	var out []string
	for _, f := range t.golang(ok) {
		out = append(out, f.dir())
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// module returns the directory of the module that name is in.
func (t *tree) module(name string) string {
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		if t.file(path.Join(dir, "go.mod")) != nil {
			return dir
		}
	}
	return "."
}

// library reports whether f is code of the root module, tests left out.
func (t *tree) library(f *file) bool { return !f.test() && t.module(f.path) == "." }

// released are the modules whose packages callers import, by their directories.
var released = []string{".", "cluster", "cluster/embedded"}

// isReleased reports whether f is code that callers import, directly or not, of
// whichever module.
func (t *tree) isReleased(f *file) bool {
	return !f.test() && slices.Contains(released, t.module(f.path))
}

// dir returns the directory of f, which is also the name of its package in the
// tables.
func (f *file) dir() string { return path.Dir(f.path) }

// test reports whether f is compiled for tests only.
func (f *file) test() bool { return strings.HasSuffix(f.path, "_test.go") }

// at describes a violation at n.
func (f *file) at(n ast.Node, format string, args ...any) string {
	return f.on(f.line(n.Pos()), format, args...)
}

// line and offset say where in f a position is.
func (f *file) line(p token.Pos) int   { return f.fset.Position(p).Line }
func (f *file) offset(p token.Pos) int { return f.fset.Position(p).Offset }

// on describes a violation on a line.
func (f *file) on(line int, format string, args ...any) string {
	return fmt.Sprintf("%s:%d: %s", f.path, line, fmt.Sprintf(format, args...))
}

// name returns what f calls the package it imports from where, or "" if it
// does not import it.
func (f *file) name(where string) string {
	for _, s := range f.syntax.Imports {
		if imported(s) != where {
			continue
		}
		if s.Name != nil {
			return s.Name.Name
		}
		return path.Base(where)
	}
	return ""
}

// refers reports whether e is one of names in the package imported from where:
// time.Sleep, or tm.Sleep where time is imported as tm. No names means any.
func (f *file) refers(e ast.Node, where string, names ...string) bool {
	sel, ok := e.(*ast.SelectorExpr)
	if !ok || len(names) > 0 && !slices.Contains(names, sel.Sel.Name) {
		return false
	}
	x, ok := sel.X.(*ast.Ident)
	return ok && x.Name == f.name(where)
}

// imported returns the path that s imports.
func imported(s *ast.ImportSpec) string {
	where, err := strconv.Unquote(s.Path.Value)
	if err != nil {
		return s.Path.Value
	}
	return where
}

// repository reads the repository, once for all tests.
var repository = sync.OnceValues(func() (*tree, error) {
	top, err := top()
	if err != nil {
		return nil, err
	}
	return read(os.DirFS(top))
})

// top walks up from the directory of this package to the first one that holds
// a go.work or a go.mod.
func top() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		for _, name := range []string{"go.work", "go.mod"} {
			if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
				return dir, nil
			}
		}
		if filepath.Dir(dir) == dir {
			return "", fmt.Errorf("no go.work or go.mod above this package")
		}
		dir = filepath.Dir(dir)
	}
}

// A sample is a tree of some lines, and what a rule must say about it.
type sample struct {
	name  string
	files map[string]string
	want  string // a part of the only violation; "" where there is none
}

// verify runs a rule on the samples, which tell whether the rule still works,
// and then on the repository.
func verify(t *testing.T, rule func(*tree) []string, samples ...sample) {
	t.Helper()
	try(t, rule, samples...)
	hold(t, rule)
}

// try runs a rule on samples. A rule with a table is tried with a table of its
// own, so that the table of the repository can change freely.
func try(t *testing.T, rule func(*tree) []string, samples ...sample) {
	t.Helper()
	for _, s := range samples {
		small, err := read(grow(s.files))
		if err != nil {
			t.Fatal(err)
		}
		got := append(small.broken, rule(small)...)
		switch {
		case s.want == "" && len(got) > 0:
			t.Errorf("the rule is broken: sample %q: got %q, want no violation", s.name, got)
		case s.want != "" && (len(got) != 1 || !strings.Contains(got[0], s.want)):
			t.Errorf("the rule is broken: sample %q: got %q, want one violation with %q", s.name, got, s.want)
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

// grow makes a file system of a sample's files.
func grow(files map[string]string) fs.FS {
	fsys := fstest.MapFS{}
	for name, text := range files {
		fsys[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return fsys
}

func TestFilesParse(t *testing.T) {
	hold(t, func(t *tree) []string { return t.broken })
}
