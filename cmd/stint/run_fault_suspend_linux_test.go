package main

import (
	"bytes"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// states returns how many processes of p there are in each state, such as T: stopped. The
// watcher, which goes on, is not among them.
func (p *faultRun) states() map[byte]int {
	found := make(map[byte]int)
	for pid, args := range markedProcesses(p.mark) {
		stat, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
		if i := bytes.LastIndexByte(stat, ')'); i >= 0 && !strings.Contains(args, "stint watch") {
			found[stat[i+2]]++
		}
	}
	return found
}

// awaitStopped waits until stint and two jobs are stopped. A shell that starts a program can be
// in state D until the program, which is stopped, has started.
func (p *faultRun) awaitStopped() {
	p.t.Helper()
	if !eventually(func() bool { s := p.states(); return s['T'] >= 3 && s['S']+s['R'] == 0 }) {
		p.t.Fatalf("the states are %v, want all stopped", p.states())
	}
}

// TestRunSuspended stops a run as Ctrl-Z does, and continues it: its jobs stop with it, also
// those that would start meanwhile.
func TestRunSuspended(t *testing.T) {
	t.Parallel()
	const script = `echo >>started; while [ ! -e go ]; do sleep 0.02; done; echo $1`
	p := newFaultRun(t, "-j", "2", "-s", script, ":::", "1", "2", "3")
	p.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // as a shell does
	p.start()
	for range 3 {
		p.awaitLines("started", 2)
		p.send(syscall.SIGTSTP)
		p.awaitStopped()
		p.send(syscall.SIGCONT)
		if !eventually(func() bool { return p.states()['T'] == 0 }) {
			t.Fatalf("the states are %v, want none stopped", p.states())
		}
	}
	p.send(syscall.SIGTSTP)
	p.awaitStopped()
	p.write("go", "")
	p.send(syscall.SIGCONT)
	p.want(0, "1\n2\n3\n", "")
}

// TestRunSuspendedWithoutShell sends the signal to a run that nobody could continue: the system
// ignores it, and so do the jobs.
func TestRunSuspendedWithoutShell(t *testing.T) {
	t.Parallel()
	p := newFaultRun(t, "-j", "2", "-s", `echo >>started; while [ ! -e go ]; do sleep 0.02; done; echo $1`, ":::", "1", "2", "3")
	p.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	p.start()
	p.awaitLines("started", 2)
	p.send(syscall.SIGTSTP)
	p.write("go", "")
	p.want(0, "1\n2\n3\n", "")
}

// TestRunSuspendedEnds ends a run that is stopped: its jobs get the signal, too.
func TestRunSuspendedEnds(t *testing.T) {
	t.Parallel()
	p := newFaultRun(t, "-j", "2", "-s", sleeper, ":::", "1", "2", "3")
	p.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	p.start()
	p.awaitLines("started", 2)
	p.send(syscall.SIGTSTP)
	p.awaitStopped()
	p.send(syscall.SIGTERM)
	p.send(syscall.SIGCONT)
	p.want(143, "", "")
}
