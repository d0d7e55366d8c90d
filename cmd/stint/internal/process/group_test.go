//go:build unix

package process

import (
	"fmt"
	"io"
	"os"
	"os/exec"
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

// TestGroupLingers has scripts that leave a process behind.
func TestGroupLingers(t *testing.T) {
	e := newEngine(t)
	for name, script := range map[string]string{
		"with the pipe":        `sleep 1000 & echo out`,
		"with standard error":  `sleep 1000 >/dev/null & echo out`,
		"output redirected":    `sleep 1000 >/dev/null 2>&1 & echo out`,
		"that ignores TERM":    `trap '' TERM; sleep 1000 & echo out`,
		"that is stopped":      `sleep 1000 & kill -STOP $!; echo out`,
		"of a subshell":        `(sleep 1000 & sleep 1000 & wait) & echo out`,
		"that ends by itself":  `(exec >&-; exit 0) & echo out`,
		"that writes":          `(echo out)&`,
		"process that is dead": `sleep 1000 & echo out; kill -KILL $$`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pipe, dead := lifeline(t)
			var p *Process
			r := do(t, e, shell(t, `exec 3>"$1"; `+script, pipe), func(it *Process) { p = it })
			dead()
			if r.stdout.String() != "out\n" || r.stderr.Len() > 0 || !p.over || !p.Reaped() {
				t.Errorf("stdout %q, stderr %q, over %v", &r.stdout, &r.stderr, p.over)
			}
		})
	}
}

// TestGroupLeft has scripts that start a process which leaves the group and keeps the pipes. It
// writes its number to a file when it has left.
func TestGroupLeft(t *testing.T) {
	setsid, err := exec.LookPath("setsid")
	if err != nil {
		t.Skip(err)
	}
	e := newEngine(t)
	for name, script := range map[string]string{
		"silent":      `exec sleep 1000`,
		"that reads":  `exec sleep 1000 <&4`,
		"that wrote":  `echo out; echo err >&2; exec sleep 1000`,
		"that floods": `exec yes`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pipe, dead := lifeline(t)
			file := filepath.Join(t.TempDir(), "pid")
			c := shell(t, `exec 3>"$1" 4<&0; "$3" sh -c 'echo $$ >"$1"; `+script+`' sh "$2" & while [ ! -s "$2" ]; do sleep 0.01; done; echo end`, pipe, file, setsid)
			c.Stdin = noise(1 << 20)
			r := do(t, e, c, nil)
			text, err := os.ReadFile(file)
			var pid int
			if _, err2 := fmt.Sscan(string(text), &pid); err != nil || err2 != nil {
				t.Fatal(err, err2)
			}
			if err := syscall.Kill(pid, syscall.SIGKILL); err != nil && name != "that floods" {
				t.Errorf("the process that has left the group is gone: %v", err)
			}
			dead()
			if r.Exit != 0 || !strings.Contains(r.stdout.String(), "end\n") {
				t.Errorf("%+v, stdout %.20q, stderr %q", r.Result, &r.stdout, &r.stderr)
			}
		})
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

var signalCases = []struct {
	name, script string
	send         []func(*Process)
	exit         int
	signal       syscall.Signal
	stdout       string
}{
	{"terminate", "echo a; exec sleep 1000", []func(*Process){(*Process).Terminate}, 0, syscall.SIGTERM, "a\n"},
	{"kill", "echo a; exec sleep 1000", []func(*Process){(*Process).Kill}, 0, syscall.SIGKILL, "a\n"},
	{"handler", "trap 'echo b; exit 7' TERM; echo a; while :; do sleep 0.01; done", []func(*Process){(*Process).Terminate}, 7, 0, "a\nb\n"},
	{"ignored", "trap '' TERM; echo a; while :; do sleep 0.01; done", []func(*Process){(*Process).Terminate, (*Process).Kill}, 0, syscall.SIGKILL, "a\n"},
	{"children", "sleep 1000 & sleep 1000 & echo a; wait", []func(*Process){(*Process).Terminate}, 0, syscall.SIGTERM, "a\n"},
	{"often", "echo a; exec sleep 1000", []func(*Process){(*Process).Terminate, (*Process).Terminate, (*Process).Kill, (*Process).Kill}, 0, -1, "a\n"},
}

func TestSignals(t *testing.T) {
	e := newEngine(t)
	for _, c := range signalCases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var p *Process
			pipe, dead := lifeline(t)
			send := func() {
				for _, f := range c.send {
					f(p)
				}
			}
			out := &trigger{f: send}
			cmd := shell(t, `exec 3>"$1"; `+c.script, pipe)
			cmd.Stdout = out
			r := do(t, e, cmd, func(it *Process) { p = it })
			dead()
			send() // to nobody
			if r.Exit != c.exit || r.Signal != int(c.signal) && c.signal >= 0 || out.String() != c.stdout {
				t.Errorf("status %d, signal %d, %q", r.Exit, r.Signal, out.String())
			}
		})
	}
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
