package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"testing/synctest"

	"github.com/stint-go/stint"
)

// A tree is a file system in memory with faults. It counts its open files.
type tree struct {
	fstest.MapFS
	unreadable map[string]error        // errors of opening a file or reading a directory
	read       func(fs.File) io.Reader // replaces the file's contents
	opened     atomic.Int64
	open       atomic.Int64
}

func (t *tree) Open(name string) (fs.File, error) {
	if err := t.unreadable[name]; err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	f, err := t.MapFS.Open(name)
	if err != nil {
		return nil, err
	}
	t.opened.Add(1)
	t.open.Add(1)
	return &file{f, t}, nil
}

func (t *tree) ReadDir(name string) ([]fs.DirEntry, error) {
	if err := t.unreadable[name]; err != nil {
		return nil, &fs.PathError{Op: "readdir", Path: name, Err: err}
	}
	return t.MapFS.ReadDir(name)
}

type file struct {
	fs.File
	tree *tree
}

func (f *file) Read(p []byte) (int, error) {
	if f.tree.read != nil {
		return f.tree.read(f.File).Read(p)
	}
	return f.File.Read(p)
}

func (f *file) Close() error {
	f.tree.open.Add(-1)
	return f.File.Close()
}

// grown returns a tree of n files, and the lines of their digests.
func grown(n int) (*tree, []string) {
	t := &tree{MapFS: fstest.MapFS{}, unreadable: map[string]error{}}
	lines := make([]string, n)
	for i := range lines {
		path := fmt.Sprintf("%02d/%04d.txt", i/25, i)
		data := bytes.Repeat([]byte(path), i)
		t.MapFS[path] = &fstest.MapFile{Data: data}
		lines[i] = fmt.Sprintf("%x  %s\n", sha256.Sum256(data), path)
	}
	return t, lines
}

// limits are the options of the tests.
var limits = [][]stint.Option{0: nil, 1: {stint.Limit(1)}, 2: {stint.Limit(4)}}

func TestOrder(t *testing.T) {
	tree, want := grown(300)
	tree.MapFS["00/link"] = &fstest.MapFile{Data: []byte("0000.txt"), Mode: fs.ModeSymlink}
	tree.MapFS["00/pipe"] = &fstest.MapFile{Mode: fs.ModeNamedPipe}
	for _, limit := range limits {
		var out strings.Builder
		if err := digests(t.Context(), tree, &out, limit...); err != nil {
			t.Error(err)
		}
		if out.String() != strings.Join(want, "") {
			t.Errorf("printed\n%s", &out)
		}
		if n := tree.open.Load(); n != 0 {
			t.Errorf("%d files are open", n)
		}
	}
}

// Lines are those of sha256sum, also for names with line breaks.
func TestNames(t *testing.T) {
	tree := fstest.MapFS{"a b": {}, "back\\slash": {}, "new\nline": {}, "return\r": {}}
	var out strings.Builder
	if err := digests(t.Context(), tree, &out); err != nil {
		t.Error(err)
	}
	const want = `H  a b
\H  back\\slash
\H  new\nline
\H  return\r
`
	if got := strings.ReplaceAll(out.String(), fmt.Sprintf("%x", sha256.Sum256(nil)), "H"); got != want {
		t.Errorf("printed\n%s\nwant\n%s", got, want)
	}
}

// An error names its file, and follows the lines of the files before it.
func TestUnreadable(t *testing.T) {
	for path, wrong := range map[string]error{
		"02/0060.txt": fs.ErrPermission,
		"03/0099.txt": fs.ErrNotExist, // removed after its directory was read
		"02":          fs.ErrPermission,
	} {
		for n, limit := range limits {
			tree, lines := grown(300)
			tree.unreadable[path] = wrong
			var out strings.Builder
			err := digests(t.Context(), tree, &out, limit...)
			if e, ok := errors.AsType[*fs.PathError](err); !ok || e.Path != path || !errors.Is(err, wrong) {
				t.Errorf("%s: error %v, want %v", path, err, wrong)
			}
			before := 0
			for before < len(lines) && !strings.Contains(lines[before], "  "+path) {
				before++
			}
			all := strings.Join(lines[:before], "")
			if !strings.HasPrefix(all, out.String()) {
				t.Errorf("%s: printed, out of order or from behind the error,\n%s", path, &out)
			}
			if n == 1 && out.String() != all { // limit 1: all lines before it
				t.Errorf("%s: printed\n%s\nwant\n%s", path, &out, all)
			}
			if open := tree.open.Load(); open != 0 {
				t.Errorf("%s: %d files are open", path, open)
			}
		}
	}
}

// The walk and the tasks are ahead of the lines by a bounded number of files.
func TestBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const files, limit = 1000, 4
		tree, _ := grown(files)
		lines := 0
		w := writer(func(p []byte) (int, error) {
			lines++
			synctest.Wait() // until nothing more can happen before this line is written
			if opened, want := int(tree.opened.Load()), min(lines+2*limit, files); opened != want {
				return 0, fmt.Errorf("%d files were opened before line %d was written, want %d", opened, lines, want)
			}
			return len(p), nil
		})
		if err := digests(t.Context(), tree, w, stint.Limit(limit)); err != nil || lines != files {
			t.Errorf("%d lines, %v", lines, err)
		}
	})
}

type writer func([]byte) (int, error)

func (w writer) Write(p []byte) (int, error) { return w(p) }

func TestUnwritable(t *testing.T) {
	full := errors.New("disk full")
	for _, limit := range limits {
		tree, _ := grown(300)
		lines := 0
		err := digests(t.Context(), tree, writer(func(p []byte) (int, error) {
			if lines++; lines > 10 {
				return 0, full
			}
			return len(p), nil
		}), limit...)
		if err != full || lines != 11 {
			t.Errorf("error %v after %d lines, want %v after 11", err, lines, full)
		}
		if n := tree.open.Load(); n != 0 {
			t.Errorf("%d files are open", n)
		}
	}
}

// An interrupt ends the reading of endless files.
func TestInterrupt(t *testing.T) {
	interrupt := errors.New("interrupt")
	for _, limit := range limits {
		ctx, cancel := context.WithCancelCause(t.Context())
		tree, _ := grown(300)
		var reads atomic.Int64
		tree.read = func(fs.File) io.Reader {
			if reads.Add(1) == 100 {
				cancel(interrupt)
			}
			return zeros{}
		}
		var out strings.Builder
		if err := digests(ctx, tree, &out, limit...); err != interrupt || out.Len() > 0 {
			t.Errorf("error %v, want %v; printed %s", err, interrupt, &out)
		}
		if n := tree.open.Load(); n != 0 {
			t.Errorf("%d files are open", n)
		}
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

func TestRun(t *testing.T) {
	dir := t.TempDir()
	for path, text := range map[string]string{"b.txt": "b", "a/b.txt": "ab", "a/empty": "", ".hidden": "h", "a.txt": "a"} {
		path = filepath.Join(dir, filepath.FromSlash(path))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, []byte(text), 0o666)); err != nil {
			t.Fatal(err)
		}
	}
	const want = `aaa9402664f1a41f40ebbc52c9993eb66aeb366602958fdfaa283b71e64db123  .hidden
fb8e20fc2e4c3f248c60c39bd652f3c1347298bb977b8b4d5903b85055620603  a/b.txt
e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855  a/empty
ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb  a.txt
3e23e8160039594a33894f6564e1b1348bbd7a0088d42c4acb73eeaed59c009d  b.txt
`
	for _, args := range [][]string{{dir}, {"-limit", "1", dir}, {"-limit", "100", dir}} {
		var stdout, stderr bytes.Buffer
		if err := run(t.Context(), args, &stdout, &stderr); err != nil || stderr.Len() > 0 || stdout.String() != want {
			t.Errorf("%q: %v, complained %q, printed\n%s\nwant\n%s", args, err, &stderr, &stdout, want)
		}
	}

	t.Chdir(dir)
	var here bytes.Buffer
	if err := run(t.Context(), nil, &here, io.Discard); err != nil || here.String() != want {
		t.Errorf("%v, printed\n%s\nwant\n%s", err, &here, want)
	}
}

func TestCommandLine(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "missing")
	for _, test := range []struct {
		args   []string
		err    error
		stderr string // prefix
	}{
		{[]string{"-help"}, nil, "Usage of digest"},
		{[]string{"-limit", "0"}, errUsage, `invalid value "0" for flag -limit: want 1 or more`},
		{[]string{"-limit", "many"}, errUsage, `invalid value "many" for flag -limit: want 1 or more`},
		{[]string{"-md5"}, errUsage, "flag provided but not defined: -md5"},
		{[]string{"a", "b"}, errUsage, "more than one directory"},
		{[]string{missing}, fs.ErrNotExist, ""},
	} {
		var stdout, stderr bytes.Buffer
		err := run(t.Context(), test.args, &stdout, &stderr)
		if !errors.Is(err, test.err) || !strings.HasPrefix(stderr.String(), test.stderr) || stdout.Len() > 0 {
			t.Errorf("%q: error %v, want %v; printed %q; complained %q, want %q", test.args, err, test.err, &stdout, &stderr, test.stderr)
		}
		if test.err == fs.ErrNotExist && !strings.Contains(fmt.Sprint(err), missing) {
			t.Errorf("error %v does not name %s", err, missing)
		}
	}
}
