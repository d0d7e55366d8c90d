package main

import (
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// paths makes the sequence that a walker begins with.
func paths(names ...string) iter.Seq[item] {
	return func(yield func(item) bool) {
		for _, name := range names {
			if !yield(item{path: name}) {
				return
			}
		}
	}
}

// TestWalkIsLazy wants a walk to look at nothing that it was not asked for.
func TestWalkIsLazy(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, dir := range []string{"a", "b"} {
		if err := os.Mkdir(dir, 0o777); err != nil {
			t.Fatal(err)
		}
		write(t, dir+"/x", "")
	}
	w := &walker{ctx: t.Context(), files: new(descriptors)}
	var got []string
	for it := range w.items(paths(".", "missing")) {
		got = append(got, it.path)
		if it.path == "./a/x" {
			if err := os.Rename("b/x", "b/y"); err != nil { // b has not been read yet
				t.Fatal(err)
			}
		}
		if it.path == "./b/y" {
			break
		}
	}
	if want := []string{"./a/x", "./b/y"}; !slices.Equal(got, want) {
		t.Errorf("items %q, want %q", got, want)
	}
}

// TestWalkOrder compares with the order of the full names, over more entries
// than are read at a time.
func TestWalkOrder(t *testing.T) {
	t.Chdir(t.TempDir())
	var want []string
	for i := range 3000 {
		name := fmt.Sprintf("%d", i*7919%3000)
		if i%10 == 0 {
			if err := os.Mkdir(name, 0o777); err != nil {
				t.Fatal(err)
			}
			name += "/x"
		}
		write(t, name, "")
		want = append(want, "./"+name)
		if i%10 == 0 {
			write(t, filepath.Dir(name)+"!", "")
			want = append(want, "./"+filepath.Dir(name)+"!")
		}
	}
	slices.Sort(want)
	w := &walker{ctx: t.Context(), files: new(descriptors)}
	var got []string
	for it := range w.items(paths(".")) {
		got = append(got, it.path)
	}
	if !slices.Equal(got, want) {
		t.Errorf("%d items, want %d in the order of their names", len(got), len(want))
	}
}

// TestWalkUnreadable wants the rest of the tree when a directory cannot be
// read.
func TestWalkUnreadable(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, dir := range []string{"tree/a", "tree/b"} {
		if err := os.MkdirAll(dir, 0o777); err != nil {
			t.Fatal(err)
		}
		write(t, dir+"/x", "x")
	}
	if err := os.Chmod("tree/a", 0); err != nil {
		t.Fatal(err)
	}
	defer os.Chmod("tree/a", 0o777)
	if _, err := os.ReadDir("tree/a"); err == nil {
		t.Skip("this user may read every directory: run the tests as another than root")
	}
	out, errs, status := runStint(t, "", "sum", "tree")
	if !strings.HasSuffix(out, "  tree/b/x\n") || errs != "stint: tree/a: Permission denied\n" || status != 1 {
		t.Errorf("output %q, messages %q, exit status %d", out, errs, status)
	}
}
