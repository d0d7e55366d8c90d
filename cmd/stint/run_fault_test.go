//go:build unix

package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// A faultRun is "stint run" in a process of its own. All that it starts has its mark in the
// environment, and must be gone with it.
type faultRun struct {
	*exec.Cmd
	t    *testing.T
	mark string
	out  bytes.Buffer
	errs syncBuilder
	done chan struct{}

	daemons bool // jobs leave processes that may go on
}

var faultRuns atomic.Int64

// newFaultRun returns a run that has not started. Its scripts are for sh, its working directory
// is new, and its standard input is empty.
func newFaultRun(t *testing.T, args ...string) *faultRun {
	t.Helper()
	p := &faultRun{t: t, mark: fmt.Sprintf("STINT_FAULT=%d.%d", os.Getpid(), faultRuns.Add(1)), done: make(chan struct{})}
	p.Cmd = exec.Command("stint", append([]string{"run"}, args...)...)
	p.Dir = t.TempDir()
	p.Env = append(os.Environ(), "STINT_SHELL=sh", "GORACE=atexit_sleep_ms=0", p.mark)
	p.Stdout, p.Stderr, p.WaitDelay = &p.out, &p.errs, 10*time.Second
	t.Cleanup(p.wantNothingLeft)
	return p
}

// within makes words the command that executes stint: its arguments follow.
func (p *faultRun) within(words ...string) *faultRun {
	p.t.Helper()
	path, err := exec.LookPath(words[0])
	if err != nil {
		p.t.Skipf("no %s here: %v", words[0], err)
	}
	p.Args = append(words, append([]string{p.Path}, p.Args[1:]...)...)
	p.Path = path
	return p
}

// start starts the run, which is killed at the end of the test at the latest.
func (p *faultRun) start() *faultRun {
	p.t.Helper()
	must(p.t, p.Start())
	p.t.Cleanup(func() {
		_ = p.Process.Kill()
		<-p.done
	})
	go func() {
		_ = p.Wait()
		close(p.done)
	}()
	return p
}

// send sends a signal to stint itself.
func (p *faultRun) send(s syscall.Signal) {
	p.t.Helper()
	must(p.t, p.Process.Signal(s))
}

// end waits for the end of the run. Then its processes are gone, unless it was killed: that
// takes a moment.
func (p *faultRun) end() *faultRun {
	p.t.Helper()
	select {
	case <-p.done:
	case <-time.After(patience):
		p.send(syscall.SIGKILL)
		<-p.done
		p.t.Fatalf("%.150q: the run does not end: output %.200q, messages %.2000q", p.Args, p.out.String(), p.errs.String())
	}
	if left := markedProcesses(p.mark); len(left) > 0 && !p.daemons && p.ProcessState.Exited() {
		p.t.Errorf("processes outlive the run: %v", left)
	}
	return p
}

// ended reports whether the run has ended.
func (p *faultRun) ended() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// want waits for the end, and wants an exit status, an output, and a part of the messages;
// "" is none.
func (p *faultRun) want(status int, out, errs string) {
	p.t.Helper()
	p.end()
	if got := p.ProcessState.ExitCode(); got != status {
		p.t.Errorf("%.150q: exit status %d, want %d; messages %.2000q", p.Args, got, status, p.errs.String())
	}
	if got := p.out.String(); got != out {
		p.t.Errorf("%.150q: %d bytes of output, want %d: it %.300s", p.Args, len(got), len(out), difference(got, out))
	}
	p.wantMessage(errs)
}

// wantMessage wants a part of the messages; "" is none.
func (p *faultRun) wantMessage(part string) {
	p.t.Helper()
	if got := p.errs.String(); !strings.Contains(got, part) || part == "" && got != "" {
		p.t.Errorf("%.150q: messages %.2000q, want %q", p.Args, got, part)
	}
}

// wantNothingLeft wants that no process of the run is left, and kills what is.
func (p *faultRun) wantNothingLeft() {
	left := markedProcesses(p.mark)
	for end := time.Now().Add(patience); len(left) > 0 && !p.daemons && time.Now().Before(end); left = markedProcesses(p.mark) {
		time.Sleep(5 * time.Millisecond)
	}
	for pid, args := range left {
		if _ = syscall.Kill(pid, syscall.SIGKILL); !p.daemons {
			p.t.Errorf("%.100q: left behind: process %d, %q", p.Args, pid, args)
		}
	}
}

// lines returns the lines of a file in the directory of the run.
func (p *faultRun) lines(name string) []string {
	p.t.Helper()
	b, err := os.ReadFile(filepath.Join(p.Dir, name))
	if !errors.Is(err, os.ErrNotExist) {
		must(p.t, err)
	}
	return strings.Split(strings.TrimSuffix(string(b), "\n"), "\n")[:bytes.Count(b, []byte("\n"))]
}

// awaitLines waits until a file has n lines.
func (p *faultRun) awaitLines(name string, n int) {
	p.t.Helper()
	if !eventually(func() bool { return len(p.lines(name)) >= n }) {
		p.t.Fatalf("%.150q: %s has %d lines, want %d; messages %.2000q", p.Args, name, len(p.lines(name)), n, p.errs.String())
	}
}

// write makes a file in the directory of the run.
func (p *faultRun) write(name, content string) {
	p.t.Helper()
	must(p.t, os.WriteFile(filepath.Join(p.Dir, name), []byte(content), 0o666))
}

// eventually waits for a condition, and reports whether it came.
func eventually(condition func() bool) bool {
	for end := time.Now().Add(patience); ; time.Sleep(5 * time.Millisecond) {
		if condition() {
			return true
		}
		if time.Now().After(end) {
			return false
		}
	}
}

// items1to returns the numbers from 1 to n, as items.
func items1to(n int) []string {
	items := make([]string, n)
	for i := range items {
		items[i] = fmt.Sprint(i + 1)
	}
	return items
}

// A yesChecker is an output that must be what "yes ITEM | head -c SIZE" prints, for each of
// some items.
type yesChecker struct {
	items []string
	size  int
	at    int    // bytes that were right
	text  string // a multiple of the line of the present item
	err   error
}

func (c *yesChecker) Write(b []byte) (int, error) {
	for rest := b; len(rest) > 0 && c.err == nil; {
		job, from := c.at/c.size, c.at%c.size
		if job == len(c.items) {
			c.err = errors.New("there is more")
			break
		}
		line := c.items[job] + "\n"
		if from == 0 {
			c.text = strings.Repeat(line, 1+64<<10/len(line))
		}
		want := c.text[from%len(line):]
		n := min(len(want), len(rest), c.size-from)
		if string(rest[:n]) != want[:n] {
			c.err = fmt.Errorf("job %d, byte %d: %.20q, want %.20q", job+1, from, rest, want)
		}
		c.at, rest = c.at+n, rest[n:]
	}
	return len(b), nil
}

// wantWhole wants that all has come.
func (c *yesChecker) wantWhole(t *testing.T) {
	t.Helper()
	if want := c.size * len(c.items); c.err != nil || c.at != want {
		t.Errorf("the output is right up to byte %d of %d, then: %v", c.at, want, c.err)
	}
}
