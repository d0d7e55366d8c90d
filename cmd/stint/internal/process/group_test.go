//go:build unix

package process

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// lifeline returns the name of a pipe that processes open for writing, and a function that
// waits until the last one of them is dead.
func lifeline(t *testing.T) (name string, dead func()) {
	t.Helper()
	name = filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(name, 0o666); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return name, func() {
		t.Helper()
		if _, err := io.Copy(io.Discard, f); err != nil {
			t.Error(err)
		}
	}
}

// trigger is a Writer that calls f when the first bytes come.
type trigger struct {
	once sync.Once
	f    func()
	strings.Builder
}

func (w *trigger) Write(b []byte) (int, error) {
	w.once.Do(w.f)
	return w.Builder.Write(b)
}

// TestSignalAtOnce sends signals before the process has done anything, and around its end.
func TestSignalAtOnce(t *testing.T) {
	e := newEngine(t)
	var wg sync.WaitGroup
	for i := range 100 {
		c := shell(t, "exit 0")
		if i%2 == 0 {
			c = command(t, "sleep", "1000")
		}
		r := do(t, e, c, func(p *Process) {
			if i%2 == 0 {
				p.Terminate()
			}
			wg.Go(p.Kill)
		})
		if r.Exit != 0 || i%2 == 0 && r.Signal == 0 {
			t.Errorf("%+v", r.Result)
		}
	}
	wg.Wait()
}
