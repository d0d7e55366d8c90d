package files

import (
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"github.com/stint-go/stint/cmd/stint/internal/testfiles"
)

// paths makes the sequence that a walker begins with.
func paths(names ...string) iter.Seq[Item] {
	return func(yield func(Item) bool) {
		for _, name := range names {
			if !yield(Item{Path: name}) {
				return
			}
		}
	}
}

// TestWalkIsLazy changes a directory before the walk reaches it.
func TestWalkIsLazy(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, dir := range []string{"a", "b"} {
		if err := os.Mkdir(dir, 0o777); err != nil {
			t.Fatal(err)
		}
		testfiles.Write(t, dir+"/x", "")
	}
	w := &Walker{Descriptors: new(Descriptors)}
	var got []string
	for it := range w.Items(t.Context(), paths(".", "missing")) {
		got = append(got, it.Path)
		if it.Path == "./a/x" {
			if err := os.Rename("b/x", "b/y"); err != nil { // b has not been read yet
				t.Fatal(err)
			}
		}
		if it.Path == "./b/y" {
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
		testfiles.Write(t, name, "")
		want = append(want, "./"+name)
		if i%10 == 0 {
			testfiles.Write(t, filepath.Dir(name)+"!", "")
			want = append(want, "./"+filepath.Dir(name)+"!")
		}
	}
	slices.Sort(want)
	w := &Walker{Descriptors: new(Descriptors)}
	var got []string
	for it := range w.Items(t.Context(), paths(".")) {
		got = append(got, it.Path)
	}
	if !slices.Equal(got, want) {
		t.Errorf("%d items, want %d in the order of their names", len(got), len(want))
	}
}

// TestDirectoryBecomesPipe reads a pipe, to which nobody writes, as a directory.
func TestDirectoryBecomesPipe(t *testing.T) {
	t.Chdir(t.TempDir())
	testfiles.Pipe(t, "dir")
	w := &Walker{Descriptors: new(Descriptors), ctx: t.Context()}
	if names, err := w.names("dir", "dir/"); len(names) > 0 || !errors.Is(err, syscall.ENOTDIR) {
		t.Errorf("names %q, %v; want ENOTDIR", names, err)
	}
	if w.Descriptors.held != 0 {
		t.Errorf("%d files are still open", w.Descriptors.held)
	}
}
