package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stint-go/stint/cluster"
)

// mkfifo makes a named pipe, or skips the test.
func mkfifo(t *testing.T, name string) {
	t.Helper()
	if err := exec.Command("mkfifo", name).Run(); err != nil {
		t.Skipf("no named pipes here: %v", err)
	}
}

// TestFileBecomesPipe puts a pipe where the walk has seen a file, and a directory. Nobody
// writes to it.
func TestFileBecomesPipe(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "file", "")
	if err := os.Mkdir("dir", 0o777); err != nil {
		t.Fatal(err)
	}
	d := newDigester(nil)
	w := &walker{ctx: t.Context(), files: &d.files}
	for it := range w.items(paths("file")) {
		if err := os.Remove("file"); err != nil {
			t.Fatal(err)
		}
		mkfifo(t, "file")
		if r, err := d.digest(t.Context(), result{item: it, alg: algorithms[0]}); r.err != errNotRegular || err != nil {
			t.Errorf("the pipe: %v, %v; want %v", r.err, err, errNotRegular)
		}
		path, err := filepath.Abs("file")
		if err != nil {
			t.Fatal(err)
		}
		if a, err := d.answer(t.Context(), question{[]byte(path), "md5"}); a.Error != errNotShared.Error() || err != nil {
			t.Errorf("the pipe, asked for: %+v, %v; want %v", a, err, errNotShared)
		}
	}
	if names, err := w.names("file", "file/"); len(names) > 0 || !errors.Is(err, syscall.ENOTDIR) {
		t.Errorf("a pipe as a directory: %q, %v; want ENOTDIR", names, err)
	}
	if d.files.held != 0 {
		t.Errorf("%d files are still open", d.files.held)
	}
}

// TestFileThatWaits reads a regular file that has nothing to say yet.
func TestFileThatWaits(t *testing.T) {
	f, err := os.Open("/proc/kmsg")
	if err != nil {
		t.Skipf("no such file here: %v", err)
	}
	f.Close()
	_, errs, code := runStint(t, "", "sum", "/proc/kmsg")
	if want := "stint: /proc/kmsg: Resource temporarily unavailable\n"; errs != want || code != 1 {
		t.Errorf("exit status %d, messages %q; want 1, %q", code, errs, want)
	}
	url, _ := serve(t)
	cmd := exec.Command("stint", "work", "--cluster", url, "-j", "1")
	r, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Process.Kill() }()
	lines := bufio.NewReader(r)
	if line, err := lines.ReadString('\n'); err != nil {
		t.Fatalf("the worker says %q, %v", line, err)
	}
	same(t, url, "", "/proc/kmsg")
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	rest, _ := io.ReadAll(lines)
	if err := cmd.Wait(); err != nil {
		t.Errorf("the worker ends with %v, want status 0; messages %q", err, rest)
	}
}

// TestWorkerGivesUp asks a worker for a file of a server that does not answer, until the task ends.
func TestWorkerGivesUp(t *testing.T) {
	d := newDigester(nil)
	ctx, cancel := context.WithCancel(t.Context())
	d.open = func(string) (io.ReadCloser, error) {
		cancel()
		select {}
	}
	if _, err := d.answer(ctx, question{[]byte("/file"), "md5"}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want context.Canceled", err)
	}
}

// content is what a worker reads of path, or its error.
func content(s *subtree, path string) (string, error) {
	f, err := s.open(path)
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
	write(t, "below/a/file", "inside")
	write(t, "outside/secret", "secret")
	write(t, "belowbeside/secret", "secret")
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
	mkfifo(t, "below/pipe")
	for _, root := range []string{"below", "alias", "./below/", dir + "/below", dir + "//alias/", "outside/../below"} {
		s, err := openSubtree(root)
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
			"/below/pipe": errNotRegular, "/below/loop": syscall.ELOOP,
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
	if s, err := openSubtree("below"); err != nil || !missing(s.open("")) {
		t.Errorf("an empty path is not missing, or %v", err)
	}
	if _, err := openSubtree("missing"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a root that is missing: %v", err)
	}
	if _, err := openSubtree("outside/secret"); err == nil {
		t.Error("a root that is a file is taken")
	}
}

// TestRootIsAll has the directory that contains all others.
func TestRootIsAll(t *testing.T) {
	dir := estate(t)
	s, err := openSubtree("/")
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

// TestUndotted has paths with "..".
func TestUndotted(t *testing.T) {
	dir := estate(t)
	for path, want := range map[string]string{
		"/below/a/../in": "/below/in", "/outside/../below/a/b/../../in": "/below/in", "/below/a/..": "/below", "/below/absolute/../in": "/below/in",
		"/below/..in": "", "/none/../below": "", "/below/a": "", "/below/a/../": "/below/", "/below/outdir/../below/in": "",
	} {
		if got := undotted(dir + path); got != dir+cmp.Or(want, path) {
			t.Errorf("%s is %s, want %s", path, got, dir+cmp.Or(want, path))
		}
	}
	if got := undotted("/../etc"); got != "/etc" {
		t.Errorf("/../etc is %s", got)
	}
}

// TestRootIsNotLeft makes a directory a link to the outside, and back, while a file in it is opened.
func TestRootIsNotLeft(t *testing.T) {
	dir := estate(t)
	write(t, "below/a/secret", "inside")
	s, err := openSubtree("below")
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

// TestWorkerWithRoot has a worker that reads one directory.
func TestWorkerWithRoot(t *testing.T) {
	grow(t)
	url, _ := serve(t)
	b := worker(t, "--cluster", url, "--root", "tree")
	same(t, url, "", "tree", "tree/3/../3/3", "tree/missing")
	write(t, "sums", strings.Repeat("0", 64)+"  tree/missing/3\n")
	same(t, url, "", "-c", "--ignore-missing", "sums")
	_, errs, code := runStint(t, "", "sum", "--cluster", url, "names")
	if want := "stint: names: not below the directory that the worker reads\n"; errs != want || code != 1 {
		t.Errorf("exit status %d, messages %q; want 1, %q", code, errs, want)
	}
	if strings.Contains(b.errs.String(), "WARNING") {
		t.Errorf("messages %q, want no warning", &b.errs)
	}
	until(t, url, "the worker is idle", func(s *cluster.Status) bool { return len(s.Workers) == 1 && s.Workers[0].Running == 0 })
	b.ended(0)
	b = worker(t, "--cluster", url)
	b.ended(0)
	if !strings.Contains(b.errs.String(), "stint: WARNING: reading every file that user "+userName()+" may read") {
		t.Errorf("messages %q, want a warning", &b.errs)
	}
}

func missing(_ io.ReadCloser, err error) bool { return errors.Is(err, fs.ErrNotExist) }
