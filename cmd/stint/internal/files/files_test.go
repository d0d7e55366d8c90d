package files

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"testing/synctest"

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
	var got []string
	for it := range new(Walker).Items(t.Context(), paths(".", "missing")) {
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

// TestDirectoryBecomesPipe reads a pipe, to which nobody writes, as a directory.
func TestDirectoryBecomesPipe(t *testing.T) {
	t.Chdir(t.TempDir())
	testfiles.Pipe(t, "dir")
	w := &Walker{ctx: t.Context()}
	if entries, err := w.read("dir/"); len(entries) > 0 || !errors.Is(err, syscall.ENOTDIR) {
		t.Errorf("entries %v, %v; want ENOTDIR", entries, err)
	}
}

// TestOpenWaits wants that an open waits for a descriptor or for the end of a lease, not
// forever, and for nothing else.
func TestOpenWaits(t *testing.T) {
	failing := func(times int, err error) (opens *int, open opener) {
		opens = new(int)
		return opens, func(string, int, fs.FileMode) (*os.File, error) {
			if *opens++; *opens <= times {
				return nil, &fs.PathError{Op: "open", Err: err}
			}
			return os.Stdin, nil
		}
	}
	cause := errors.New("cause")
	ended, cancel := context.WithCancelCause(context.Background())
	cancel(cause)
	for _, test := range []struct {
		ctx   context.Context
		err   error
		times int
		want  error
		opens int
	}{
		{context.Background(), syscall.EMFILE, 7, nil, 8},
		{context.Background(), syscall.EAGAIN, 5000, nil, 5001},
		{context.Background(), syscall.ENFILE, 1e6, syscall.ENFILE, maxOpens},
		{context.Background(), syscall.EACCES, 1, syscall.EACCES, 1},
		{ended, syscall.EMFILE, 1e6, cause, 1},
	} {
		synctest.Test(t, func(t *testing.T) {
			opens, open := failing(test.times, test.err)
			if _, err := openWaiting(test.ctx, "", open); !errors.Is(err, test.want) || *opens != test.opens {
				t.Errorf("%v: %v after %d opens, want %v after %d", test.err, err, *opens, test.want, test.opens)
			}
		})
	}
}

// estate makes a directory with a part that a worker reads, "below", and one that it does not.
func estate(t *testing.T) (dir string) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	for _, d := range []string{"below/a/b", "belowbeside", "outside"} {
		if err := os.MkdirAll(d, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	testfiles.Write(t, "below/a/file", "inside")
	testfiles.Write(t, "outside/secret", "secret")
	testfiles.Write(t, "belowbeside/secret", "secret")
	for _, link := range [][2]string{
		{"below", "alias"}, {"a/file", "below/in"}, {dir + "/below/a", "below/absolute"}, {"../outside/secret", "below/out"},
		{dir + "/outside", "below/outdir"}, {"../outside/none", "below/dangling"}, {"/", "below/top"}, {"loop", "below/loop"},
	} {
		if err := os.Symlink(link[0], link[1]); err != nil {
			t.Skipf("no symbolic links here: %v", err)
		}
	}
	return dir
}

// content is what a worker reads of path, or its error.
func content(t *testing.T, s *Subtree, path string) (string, error) {
	f, err := s.Open(t.Context(), path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	b := make([]byte, 100)
	n, err := f.Read(b)
	return string(b[:n]), err
}

// TestRoot wants that a worker reads all that is below a directory, by its names, and nothing else.
func TestRoot(t *testing.T) {
	dir := estate(t)
	testfiles.Pipe(t, "below/pipe")
	for _, root := range []string{"below", "alias", "./below/", dir + "/below", dir + "//alias/"} {
		s, err := OpenSubtree(root)
		if err != nil {
			t.Fatal(err)
		}
		for path, want := range map[string]error{
			"/below/a/file": nil, "/below/in": nil, "//below//a//file": nil, "/below/./a/file": nil, "/below/a/b/../file": nil,
			"/below/missing": fs.ErrNotExist, "/below/a/file/x": syscall.ENOTDIR, "/below/a": syscall.EISDIR, "/below": syscall.EISDIR,
			"/below/pipe": ErrNotRegular, "/below/loop": syscall.ELOOP, "/below/absolute/file": errOutside,
			"/outside/secret": errOutside, "/outside/missing": errOutside, "/belowbeside/secret": errOutside, "/below/../outside/secret": errOutside,
			"/below/out": errOutside, "/below/outdir/secret": errOutside, "/below/outdir/none": errOutside, "/below/top/etc/passwd": errOutside,
			"/below/top/missing": errOutside, "/missing": errOutside, "/below/dangling": errOutside, "/below/a/../../outside/secret": errOutside,
		} {
			got, err := content(t, s, dir+path)
			if want == nil && got != "inside" || want != nil && got != "" || !errors.Is(err, want) {
				t.Errorf("--root %s: %s is %q, %v; want %v", root, path, got, err, want)
			}
		}
		got, err := content(t, s, dir+"/alias/a/file")
		if isAlias := filepath.Base(root) == "alias"; isAlias != (got == "inside") || !isAlias && err != errOutside {
			t.Errorf("--root %s: by the other name it is %q, %v", root, got, err)
		}
	}
	for _, name := range []string{"missing", "outside/secret"} {
		if _, err := OpenSubtree(name); err == nil {
			t.Errorf("--root %s is no directory, and taken", name)
		}
	}
	s, err := OpenSubtree("/")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := content(t, s, dir+"/below/out"); got != "secret" || err != nil {
		t.Errorf("--root /: %q, %v; want that it is read", got, err)
	}
}

// TestRootIsNotLeft makes a directory a link to the outside, and back, while a file in it is opened.
func TestRootIsNotLeft(t *testing.T) {
	dir := estate(t)
	testfiles.Write(t, "below/a/secret", "inside")
	s, err := OpenSubtree("below")
	if err != nil {
		t.Fatal(err)
	}
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			err := cmp.Or(os.Rename("below/a", "below/parked"), os.Symlink("../outside", "below/a"),
				os.Remove("below/a"), os.Rename("below/parked", "below/a"))
			if err != nil {
				t.Error(err)
			}
			select {
			case <-stop:
				return
			default:
			}
		}
	}()
	for range 5000 {
		if got, err := content(t, s, dir+"/below/a/secret"); got != "inside" && err == nil {
			t.Errorf("the file is %q", got)
			break
		}
	}
	close(stop)
	<-stopped
}
