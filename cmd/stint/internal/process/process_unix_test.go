//go:build unix

package process

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// A run is what a test knows of a process that has ended.
type run struct {
	Result
	stdout, stderr bytes.Buffer
}

// command returns the command of a program and its arguments.
func command(tb testing.TB, args ...string) *Command {
	tb.Helper()
	path, err := exec.LookPath(args[0])
	if err != nil {
		tb.Skip(err)
	}
	return &Command{Path: path, Args: args, Env: os.Environ()}
}

// shell returns the command of a script.
func shell(tb testing.TB, script string, args ...string) *Command {
	tb.Helper()
	return command(tb, append([]string{"sh", "-c", script, "sh"}, args...)...)
}

// do runs c, and collects the output that goes nowhere else.
func do(tb testing.TB, e *Engine, c *Command, started func(*Process)) *run {
	tb.Helper()
	r := new(run)
	if c.Stdout == nil {
		c.Stdout = &r.stdout
	}
	if c.Stderr == nil {
		c.Stderr = &r.stderr
	}
	if started == nil {
		started = func(*Process) {}
	}
	var err error
	if r.Result, err = e.Run(c, started); err != nil {
		tb.Error(err)
	}
	return r
}

// noise returns n bytes of all values, the same ones each time.
func noise(n int) []byte {
	b := make([]byte, n)
	_, _ = rand.NewChaCha8([32]byte{1}).Read(b)
	return b
}

var runCases = []struct {
	name, script   string
	stdin          []byte
	exit           int
	signal         syscall.Signal
	stdout, stderr string
}{
	{name: "success", script: "exit 0"},
	{name: "largest status", script: "exit 255", exit: 255},
	{name: "killed", script: "kill -KILL $$", signal: syscall.SIGKILL},
	{name: "status that looks like a signal", script: "exit 137", exit: 137},
	{name: "without line ends", script: "printf 'a\\0b'; printf x >&2; exit 1", exit: 1, stdout: "a\x00b", stderr: "x"},
	{name: "no input", script: "cat"},
	{name: "empty input", script: "cat", stdin: []byte{}},
	{name: "input", script: "cat; echo end", stdin: []byte("some\nlines"), stdout: "some\nlinesend\n"},
	{name: "unread input", script: "echo x", stdin: noise(1 << 20), stdout: "x\n"},
	{name: "much on both outputs", script: "tee /dev/stderr", stdin: noise(1<<20 + 1), stdout: string(noise(1<<20 + 1)), stderr: string(noise(1<<20 + 1))},
	{name: "closed outputs", script: "exec >&- 2>&-; exit 5", exit: 5},
}

func TestRun(t *testing.T) {
	e := newEngine(t)
	for _, c := range runCases {
		t.Run(c.name, func(t *testing.T) {
			cmd := shell(t, c.script)
			cmd.Stdin = c.stdin
			before := time.Now()
			var pid int
			r := do(t, e, cmd, func(p *Process) {
				if pid = p.Pid(); p.Started().Before(before) {
					t.Errorf("started %v", p.Started())
				}
			})
			if r.Exit != c.exit || r.Signal != int(c.signal) {
				t.Errorf("status %d, signal %d, want %d, %d", r.Exit, r.Signal, c.exit, c.signal)
			}
			if r.stdout.String() != c.stdout {
				t.Errorf("stdout has %d bytes: %.50q, want %d: %.50q", r.stdout.Len(), &r.stdout, len(c.stdout), c.stdout)
			}
			if r.stderr.String() != c.stderr {
				t.Errorf("stderr has %d bytes: %.50q, want %d: %.50q", r.stderr.Len(), &r.stderr, len(c.stderr), c.stderr)
			}
			if pid <= 0 || r.Start.Before(before) || r.Elapsed <= 0 {
				t.Errorf("pid %d, start %v, elapsed %v", pid, r.Start, r.Elapsed)
			}
		})
	}
}

func TestRunEnvironment(t *testing.T) {
	c := shell(t, `echo "$A-$HOME"; pwd -P`)
	c.Env, c.Dir = []string{"A=b c"}, t.TempDir()
	dir, err := filepath.EvalSymlinks(c.Dir)
	if err != nil {
		t.Fatal(err)
	}
	if r, want := do(t, newEngine(t), c, nil), "b c-\n"+dir+"\n"; r.stdout.String() != want {
		t.Errorf("%q, want %q", &r.stdout, want)
	}
}

// TestRunCPU lets a process and a child that it waits for work.
func TestRunCPU(t *testing.T) {
	const work = `i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done; `
	e := newEngine(t)
	for _, script := range []string{work, "(" + work + "); exit 0"} {
		if r := do(t, e, shell(t, script), nil); r.CPU <= 0 {
			t.Errorf("%q has used %v", script, r.CPU)
		}
	}
}

// failingWriter fails after some bytes.
type failingWriter struct{ left int }

func (w *failingWriter) Write(b []byte) (int, error) {
	if w.left -= len(b); w.left < 0 {
		return 0, errors.New("no space")
	}
	return len(b), nil
}

func TestRunWriterFails(t *testing.T) {
	for _, left := range []int{0, 1, 100000} {
		c := command(t, "yes")
		c.Stdout = &failingWriter{left}
		if r := do(t, newEngine(t), c, nil); r.Signal != int(syscall.SIGPIPE) {
			t.Errorf("after %d bytes: %+v", left, r.Result)
		}
		c = shell(t, "yes >&2; echo status $?")
		c.Stderr = &failingWriter{left}
		if r := do(t, newEngine(t), c, nil); r.Exit != 0 || !strings.HasPrefix(r.stdout.String(), "status ") {
			t.Errorf("stderr, after %d bytes: %+v, %q", left, r.Result, &r.stdout)
		}
	}
}

// script writes a file that can be executed.
func script(t *testing.T, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "script")
	if err := os.WriteFile(name, []byte(text), 0o777); err != nil {
		t.Fatal(err)
	}
	return name
}

// TestRunScriptWithoutShell has no line that names a shell.
func TestRunScriptWithoutShell(t *testing.T) {
	name := script(t, "echo \"$0\" $# \"$1\"; exit 6\n")
	r := do(t, newEngine(t), &Command{Path: name, Args: []string{"other", "a b", "c"}}, nil)
	if want := name + " 2 a b\n"; r.Exit != 6 || r.stdout.String() != want {
		t.Errorf("%q, %+v, want %q", &r.stdout, r.Result, want)
	}
}

func TestRunErrors(t *testing.T) {
	dir := t.TempDir()
	plain := filepath.Join(dir, "plain")
	if err := os.WriteFile(plain, []byte("#!/bin/sh\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	sh := shell(t, "").Path
	for _, c := range []struct {
		name, path, dir, arg string
		is, not              error
		text                 string
	}{
		{name: "no program", path: filepath.Join(dir, "none"), is: fs.ErrNotExist},
		{name: "no permission", path: plain, is: fs.ErrPermission},
		{name: "no interpreter", path: script(t, "#!/none/sh\n"), is: fs.ErrNotExist},
		{name: "no directory", path: sh, dir: filepath.Join(dir, "none"), not: fs.ErrNotExist, text: "none"},
		{name: "file as directory", path: sh, dir: plain, not: fs.ErrNotExist, text: "not a directory"},
		{name: "NUL", path: sh, arg: "a\x00b", is: syscall.EINVAL},
		{name: "arguments too long", path: sh, arg: strings.Repeat("a", 32<<20), is: syscall.E2BIG},
	} {
		_, err := newEngine(t).Run(&Command{Path: c.path, Args: []string{"a", c.arg}, Dir: c.dir, Stdin: []byte("x"), Stdout: new(bytes.Buffer)}, func(*Process) {
			t.Errorf("%s: started", c.name)
		})
		if err == nil || c.is != nil && !errors.Is(err, c.is) || c.not != nil && errors.Is(err, c.not) || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// TestRunConcurrently runs 64 processes at a time, with input and both outputs.
func TestRunConcurrently(t *testing.T) {
	e, err := New(watcher())
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	var wg sync.WaitGroup
	for i := range 64 {
		wg.Go(func() {
			for range 3 {
				c := shell(t, `cat; echo "err $1" >&2; exit $1`, fmt.Sprint(i))
				c.Stdin = bytes.Repeat([]byte{byte(i)}, 1000*i)
				r := do(t, e, c, nil)
				if r.Exit != i || !bytes.Equal(r.stdout.Bytes(), c.Stdin) || r.stderr.String() != fmt.Sprintf("err %d\n", i) {
					t.Errorf("%d: %+v, %d bytes, %q", i, r.Result, r.stdout.Len(), &r.stderr)
				}
			}
		})
	}
	wg.Wait()
}
