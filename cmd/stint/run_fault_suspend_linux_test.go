package main

import (
	"bytes"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stint-go/stint/cmd/stint/internal/testterm"
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

// awaitStopped waits until so many processes are stopped, and no other. A shell that starts a
// program can be in state D until the program, which is stopped, has started.
func (p *faultRun) awaitStopped(n int) {
	p.t.Helper()
	if !eventually(func() bool { s := p.states(); return s['T'] >= n && s['S']+s['R'] == 0 }) {
		p.t.Fatalf("the states are %v, want all stopped", p.states())
	}
}

// awaitContinued waits until no process is stopped.
func (p *faultRun) awaitContinued() {
	p.t.Helper()
	if !eventually(func() bool { return p.states()['T'] == 0 }) {
		p.t.Fatalf("the states are %v, want none stopped", p.states())
	}
}

// TestRunSuspended stops a run by each signal that does, and continues it: its jobs stop with
// it, wherever they are, also those that would start meanwhile.
func TestRunSuspended(t *testing.T) {
	t.Parallel()
	const script = `echo >>started; while [ ! -e go ]; do sleep 0.02; done; echo $1`
	const nested = `exec stint run -s "echo >>started; while [ ! -e go ]; do sleep 0.02; done; echo \$1" ::: $1`
	for name, test := range map[string]struct {
		args []string
		n    int // of processes of stint and two jobs
	}{
		"jobs":         {[]string{"-s", script}, 3},
		"nested":       {[]string{"-s", nested}, 5},
		"nested twice": {[]string{"-s", strings.ReplaceAll(`stint run -s 'NESTED' ::: $1; echo $?`, "NESTED", nested)}, 9},
		"elsewhere":    {[]string{"escape", script + " #"}, 3},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newFaultRun(t, append(append([]string{"-j", "2"}, test.args...), ":::", "1", "2", "3")...)
			p.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // as a shell does
			p.start()
			for _, s := range []syscall.Signal{syscall.SIGTSTP, syscall.SIGSTOP, syscall.SIGTTIN, syscall.SIGTTOU, syscall.SIGTSTP} {
				p.awaitLines("started", 2)
				p.send(s)
				p.awaitStopped(test.n)
				p.send(syscall.SIGCONT)
				p.awaitContinued()
			}
			p.send(syscall.SIGTSTP)
			p.awaitStopped(test.n)
			p.write("go", "")
			p.send(syscall.SIGCONT)
			if p.end(); p.ProcessState.ExitCode() != 0 || len(p.lines("started")) != 3 {
				t.Errorf("exit status %d after %d jobs, want 0 after 3; messages %q", p.ProcessState.ExitCode(), len(p.lines("started")), p.errs.String())
			}
			p.wantMessage("")
		})
	}
}

// TestRunTellsOfStoppedJobs has jobs that want the terminal, or stop otherwise. A message says
// so once, until they end.
func TestRunTellsOfStoppedJobs(t *testing.T) {
	t.Parallel()
	for name, script := range map[string]string{
		"reads":     "echo >>started; cat /dev/tty; echo $?; : $1",
		"writes":    "echo >>started; stty sane </dev/tty; : $1",
		"otherwise": "echo >>started; kill -STOP $$; : $1",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, line := testterm.Open(t, 80)
			p := newFaultRun(t, "-s", script, ":::", "1")
			p.Stdin, p.SysProcAttr = line, &syscall.SysProcAttr{Setsid: true, Setctty: true}
			p.start()
			const told = "stint: job 1 is stopped (process "
			if !eventually(func() bool { return strings.Contains(p.errs.String(), told) }) {
				t.Errorf("messages %q, want %q", p.errs.String(), told)
			}
			p.send(syscall.SIGTERM)
			if p.end(); p.ProcessState.ExitCode() != 143 || strings.Count(p.errs.String(), told) != 1 {
				t.Errorf("exit status %d, messages %q", p.ProcessState.ExitCode(), p.errs.String())
			}
		})
	}
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
	p.awaitStopped(3)
	p.send(syscall.SIGTERM)
	p.send(syscall.SIGCONT)
	p.want(143, "", "")
}
