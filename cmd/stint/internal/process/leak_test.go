//go:build unix

package process

import (
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"time"
)

// openFiles returns how many descriptors this process has, if the system tells.
func openFiles(t *testing.T) int {
	t.Helper()
	names, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip(err)
	}
	return len(names)
}

// settle waits until no more goroutines run than before.
func settle(t *testing.T, before int) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); runtime.NumGoroutine() > before; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d goroutines, %d before", runtime.NumGoroutine(), before)
		}
	}
}

// TestRunLeaksNothing is not parallel, so that it is alone.
func TestRunLeaksNothing(t *testing.T) {
	e, err := New(watcher())
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	plain := script(t, "exit 2\n")
	runs := func(n int) {
		for range n {
			c := shell(t, "echo a; echo b >&2")
			c.Stdin = noise(100 << 10)
			do(t, e, c, nil)
			do(t, e, &Command{Path: plain, Args: []string{"x"}}, nil)
			c = command(t, "yes")
			c.Stdout = &failingWriter{}
			do(t, e, c, nil)
			for _, c := range []*Command{{Path: "/none/program"}, {Path: plain, Dir: "/none"}, {Path: plain, Env: []string{"\x00"}}} {
				c.Args, c.Stdin, c.Stdout, c.Stderr = []string{"x"}, noise(1), &failingWriter{}, &failingWriter{}
				if _, err := e.Run(c, nil); err == nil {
					t.Errorf("%+v runs", c)
				}
			}
		}
	}
	runs(5)
	files, goroutines := openFiles(t), runtime.NumGoroutine()
	runs(200)
	settle(t, goroutines)
	if n := openFiles(t); n != files {
		t.Errorf("%d descriptors, %d before", n, files)
	}
}

// TestEngineLeaksNothing starts watchers, and looks for descriptors and processes.
func TestEngineLeaksNothing(t *testing.T) {
	files, goroutines := openFiles(t), runtime.NumGoroutine()
	for range 20 {
		e, err := New(watcher())
		if err != nil {
			t.Fatal(err)
		}
		do(t, e, shell(t, "exit 0"), nil)
		e.Close()
		e, err = New([]string{filepath.Join(t.TempDir(), "none")})
		if err == nil {
			t.Error("no error")
		}
		e.Close()
	}
	settle(t, goroutines)
	if n := openFiles(t); n != files {
		t.Errorf("%d descriptors, %d before", n, files)
	}
	if pid, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil); err != syscall.ECHILD {
		t.Errorf("process %d is left, %v", pid, err)
	}
}
