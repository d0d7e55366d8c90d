package files

import (
	"cmp"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stint-go/stint/cmd/stint/internal/testfiles"
)

// content is what a worker reads of path, or its error.
func content(s *Subtree, path string) (string, error) {
	f, err := s.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	b, err := io.ReadAll(f)
	return string(b), err
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
		{"below", "alias"}, {"a/file", "below/in"}, {dir + "/below/a", "below/absolute"}, {dir + "/alias/a/file", "below/round"},
		{"../outside/secret", "below/out"}, {dir + "/outside", "below/outdir"}, {"../outside/none", "below/dangling"},
		{"/", "below/top"}, {"loop", "below/loop"},
	} {
		if err := os.Symlink(link[0], link[1]); err != nil {
			t.Skipf("no symbolic links here: %v", err)
		}
	}
	return dir
}

// TestRoot wants that a worker reads all that is below a directory, by whatever name, and nothing else.
func TestRoot(t *testing.T) {
	dir := estate(t)
	testfiles.Pipe(t, "below/pipe")
	for _, root := range []string{"below", "alias", "./below/", dir + "/below", dir + "//alias/", "outside/../below"} {
		s, err := OpenSubtree(root)
		if err != nil {
			t.Fatal(err)
		}
		alias := func(want error) error {
			if !strings.Contains(root, "alias") {
				return errOutside // a name for it that the worker was not given
			}
			return want
		}
		for path, want := range map[string]error{
			"/below/a/file": nil, "/alias/a/file": alias(nil), "/below/in": nil, "/below/absolute/file": nil, "/below/round": alias(nil),
			"//below//a//file": nil, "/./below/./a/file": nil, "/below/a/b/../file": nil, "/below/absolute/b/../file": nil, "/below/./../below/in": errOutside,
			"/below/missing": fs.ErrNotExist, "/alias/missing/too": alias(fs.ErrNotExist), "/./below/a/none/../file": fs.ErrNotExist,
			"/below/absolute/none/../file": fs.ErrNotExist, "/below/absolute/file/../file": syscall.ENOTDIR,
			"/below/a/file/": syscall.ENOTDIR, "/below/a/file/x": syscall.ENOTDIR, "/below/a": syscall.EISDIR, "/below/a/": syscall.EISDIR,
			"/below/pipe": ErrNotRegular, "/below/loop": syscall.ELOOP,
			"/outside/secret": errOutside, "/outside/missing": errOutside, "/belowbeside/secret": errOutside, "/below/../outside/secret": errOutside,
			"/below/out": errOutside, "/below/outdir/secret": errOutside, "/below/outdir/none": errOutside, "/below/top/etc/passwd": errOutside,
			"/below/top/missing": errOutside, "/missing": errOutside, "/below/dangling": errOutside,
			"/outside/../below/in": errOutside, "/outside/none/../../below/in": errOutside, "/outside/secret/../../below/in": errOutside,
			"/below/a/../../below/in": errOutside, "/below/top" + dir + "/below/in": errOutside, "/below": syscall.EISDIR, "/below/.": syscall.EISDIR, "": errOutside,
		} {
			got, err := content(s, dir+path)
			switch {
			case want == nil && (err != nil || got != "inside"), want != nil && got != "":
				t.Errorf("--root %s: %s is %q, %v; want %v", root, path, got, err, want)
			case !errors.Is(err, want):
				t.Errorf("--root %s: %s is %v, want %v", root, path, err, want)
			}
		}
	}
	if s, err := OpenSubtree("below"); err != nil || !missing(s.Open("")) {
		t.Errorf("an empty path is not missing, or %v", err)
	}
	if _, err := OpenSubtree("missing"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a root that is missing: %v", err)
	}
	if _, err := OpenSubtree("outside/secret"); err == nil {
		t.Error("a root that is a file is taken")
	}
}

// TestRootIsAll has the directory that contains all others.
func TestRootIsAll(t *testing.T) {
	dir := estate(t)
	s, err := OpenSubtree("/")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/missing", "/below/missing", "/below/dangling", "/below/top/missing"} {
		if got, err := content(s, dir+path); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s is %q, %v; want that it is missing", path, got, err)
		}
	}
	for path, want := range map[string]string{"/below/../below/in": "inside", "/below/in": "inside", "/below/out": "secret", "/below/top" + dir + "/alias/in": "inside"} {
		for _, path := range []string{dir + path, "/" + dir + path} {
			if got, err := content(s, path); got != want || err != nil {
				t.Errorf("%s is %q, %v; want %q", path, got, err, want)
			}
		}
	}
}

// TestClean has paths with "..".
func TestClean(t *testing.T) {
	dir := estate(t)
	for path, want := range map[string]string{
		"/below/a/../in": "/below/in", "/outside/../below/a/b/../../in": "/below/in", "/below/a/..": "/below", "/below/absolute/../in": "/below/in",
		"/below/..in": "", "/none/../below": "", "/below/a": "", "/below/a/../": "/below/", "/below/outdir/../below/in": "",
	} {
		if got := Clean(dir + path); got != dir+cmp.Or(want, path) {
			t.Errorf("%s is %s, want %s", path, got, dir+cmp.Or(want, path))
		}
	}
	if got := Clean("/../etc"); got != "/etc" {
		t.Errorf("/../etc is %s", got)
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
		if got, err := content(s, dir+"/below/a/secret"); got != "inside" && err == nil {
			t.Errorf("the file is %q", got)
			break
		}
	}
	close(stop)
	<-stopped
}

func missing(_ io.ReadCloser, err error) bool { return errors.Is(err, fs.ErrNotExist) }
