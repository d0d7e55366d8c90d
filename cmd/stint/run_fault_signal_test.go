//go:build unix

package main

import (
	"cmp"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
)

// endings are the signals that end a run, with the exit status.
var endings = []struct {
	signal syscall.Signal
	status int
}{{syscall.SIGINT, 130}, {syscall.SIGTERM, 143}, {syscall.SIGHUP, 129}, {syscall.SIGQUIT, 131}}

// Scripts of jobs that tell when they run. The second ends when there is a file go.
const (
	sleeper  = `: $1; echo >>started; exec sleep 1000`
	stubborn = `exec 2>&-; trap 'echo >>told' TERM; echo >>started; while [ ! -e go ]; do sleep 0.02; done; echo done $1`
)

// TestRunJobKilled wants the signal that a job died of in each record of it.
func TestRunJobKilled(t *testing.T) {
	t.Parallel()
	for _, s := range []syscall.Signal{syscall.SIGKILL, syscall.SIGTERM, syscall.SIGSEGV, syscall.SIGPIPE} {
		p := newFaultRun(t, "--json", "--joblog", "log", "-s", fmt.Sprintf("echo out; kill -%d $$; echo more $1", s), ":::", "1").start().end()
		p.wantMessage(fmt.Sprintf("1 job of 1 failed: job 1, killed by signal %d: ", s))
		if got, want := p.out.String(), fmt.Sprintf(`"status":%d,"signal":%d,"stdout":"out\n","stderr":""}`, 128+s, s); !strings.Contains(got, want) {
			t.Errorf("output %q, want %q", got, want)
		}
		if log := p.lines("log"); len(log) != 2 || !strings.Contains(log[1], fmt.Sprintf("\t4\t0\t%d\t", s)) {
			t.Errorf("job log %q, want exit status 0 and signal %d", log, s)
		}
		if got := p.ProcessState.ExitCode(); got != 1 {
			t.Errorf("exit status %d, want 1", got)
		}
	}
}

// TestRunInterruptedWhile interrupts runs that wait for something else than jobs.
func TestRunInterruptedWhile(t *testing.T) {
	t.Parallel()
	for what, args := range map[string][]string{
		"a retry":     {"--retries", "2", "--retry-delay", "1000", "-s", "echo >>started; exit 1", ":::", "1"},
		"a delay":     {"--delay", "1000", "-s", "echo >>started; : $1", ":::", "1", "2"},
		"no overload": {"--retry-delay", "1000", "-s", "echo >>started; exit 75", ":::", "1"},
		"items":       {"-j", "1", "-s", "echo >>started; : $1"},
		"blocks":      {"--pipe", "--block", "2", "-s", "cat; echo >>started"},
	} {
		p := newFaultRun(t, args...)
		in, err := p.StdinPipe()
		must(t, err)
		defer in.Close()
		p.start()
		_, err = in.Write([]byte("1\n2\n"))
		must(t, err)
		p.awaitLines("started", 1)
		p.send(syscall.SIGTERM)
		if p.end(); p.ProcessState.ExitCode() != 143 {
			t.Errorf("%s: exit status %d, want 143; messages %q", what, p.ProcessState.ExitCode(), p.errs.String())
		}
	}
}

func init() { programs["escape"] = escape }

// escape moves to the process group of its parent, and executes its arguments.
func escape() {
	group, err := syscall.Getpgid(os.Getppid())
	if err == nil {
		err = syscall.Setpgid(0, group)
	}
	if err == nil {
		err = syscall.Exec("/bin/sh", append([]string{"sh", "-c"}, os.Args[1:]...), os.Environ())
	}
	panic(err)
}

// jobStates are jobs that a TERM ends, in the states that one can be in. None starts a process when
// it has said that it runs: shells hold signals back while they do, and a process that is started
// after the TERM for its group does not get it.
var jobStates = map[string][]string{
	"running":             {"-s", sleeper},
	"with children":       {"-s", "sleep 1000 & sleep 1000 & echo >>started; wait; : $1"},
	"stopped":             {"-s", "echo >>started; kill -STOP $$; : $1"},
	"outside of a group":  {"escape", sleeper},
	"nested":              {"-s", `stint run -s "echo >>started; exec sleep 1000" ::: 1; echo after`},
	"nested, and stopped": {"-s", `stint run -s "kill -STOP \$PPID; echo >>started; exec sleep 1000" ::: 1; echo after`},
	"ended, with a group": {"-s", `(trap "exit 0" TERM; echo >>started; while :; do sleep 0.02; done) & wait; : $1`},
}

// TestRunEndsJobs ends jobs in all states by each signal, by a timeout and by a halt.
func TestRunEndsJobs(t *testing.T) {
	t.Parallel()
	for state, args := range jobStates {
		t.Run(state, func(t *testing.T) {
			t.Parallel()
			for _, end := range endings {
				p := newFaultRun(t, append(args, ":::", "1")...).start()
				p.awaitLines("started", 1)
				p.send(end.signal)
				if p.end(); p.ProcessState.ExitCode() != end.status || p.out.Len() > 0 {
					t.Errorf("%v: exit status %d, want %d; output %q, messages %q", end.signal, p.ProcessState.ExitCode(), end.status, &p.out, p.errs.String())
				}
			}
			p := newFaultRun(t, append(append([]string{"--timeout", "0.5"}, args...), ":::", "1")...).start()
			p.want(1, "", "1 job of 1 failed: job 1, timed out after ")
		})
	}
}

// TestRunIgnores sends signals that do not concern a run, nor its jobs.
func TestRunIgnores(t *testing.T) {
	t.Parallel()
	p := newFaultRun(t, "-s", `trap "echo >>told" WINCH PIPE USR1 USR2 CONT CHLD ALRM; echo >>started; while [ ! -e go ]; do :; done; echo done $1`, ":::", "1").start()
	p.awaitLines("started", 1)
	for _, s := range []syscall.Signal{syscall.SIGWINCH, syscall.SIGPIPE, syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGCONT, syscall.SIGCHLD, syscall.SIGALRM} {
		p.send(s)
	}
	p.write("go", "")
	p.want(0, "done 1\n", "")
	if told := p.lines("told"); len(told) > 0 {
		t.Errorf("the job got %d signals, want none", len(told))
	}
}

// TestRunWaitsForGroups terminates jobs whose own process ends at once, and one that it has
// started takes its time: until the end of that, or a second signal.
func TestRunWaitsForGroups(t *testing.T) {
	t.Parallel()
	const server = `(exec 2>&-; trap 'echo >>told; while [ ! -e go ]; do sleep 0.02; done; echo >>clean; exit' TERM; echo >>started; while :; do sleep 0.02; done) & wait; echo after $1`
	for _, end := range endings {
		for _, twice := range []bool{false, true} {
			t.Run(fmt.Sprint(end.signal, " ", twice), func(t *testing.T) {
				t.Parallel()
				p := newFaultRun(t, "-s", server, ":::", "1").start()
				p.awaitLines("started", 1)
				p.send(end.signal)
				p.awaitLines("told", 1)
				const waits = "waiting for running jobs: 1; a second signal kills them\n"
				if !eventually(func() bool { return strings.Contains(p.errs.String(), waits) }) {
					t.Errorf("messages %q, want %q", p.errs.String(), waits)
				}
				want := 0
				if twice {
					p.send(end.signal)
				} else {
					p.write("go", "")
					want = 1
				}
				p.want(end.status, "", waits)
				if got := len(p.lines("clean")); got != want {
					t.Errorf("%d processes have ended in order, want %d", got, want)
				}
			})
		}
	}
}

// TestRunWaitsForStubbornJobs interrupts jobs that ignore it: no more start, and the run lasts until
// they end, and prints them. A second signal kills them.
func TestRunWaitsForStubbornJobs(t *testing.T) {
	t.Parallel()
	for _, end := range endings {
		for _, flag := range []string{"", "--unordered", "--json", "--ungroup", "--line-buffer"} {
			p := newFaultRun(t, append([]string{cmp.Or(flag, "--tag=false"), "-j", "2", "-s", stubborn, ":::"}, items1to(50)...)...).start()
			p.awaitLines("started", 2)
			p.send(end.signal)
			p.awaitLines("told", 2)
			out := ""
			if flag == "" {
				out = "done 1\ndone 2\n"
				p.write("go", "")
			} else {
				p.send(end.signal)
			}
			p.end()
			if got := len(p.lines("started")); got != 2 {
				t.Errorf("%v %s: %d jobs have started, want 2", end.signal, flag, got)
			}
			if got := p.ProcessState.ExitCode(); got != end.status || flag != "--json" && p.out.String() != out || flag == "--json" && strings.Contains(p.out.String(), "done") {
				t.Errorf("%s: exit status %d, want %d; output %q, want %q; messages %q", flag, got, end.status, p.out.String(), out, p.errs.String())
			}
		}
	}
}

// TestRunEndsStubbornJobs wants that jobs which ignore TERM are killed where nobody is asked.
func TestRunEndsStubbornJobs(t *testing.T) {
	t.Parallel()
	var all []*faultRun
	tests := []struct {
		args   []string
		last   string // what the third job does when the others run
		status int
		errs   string
	}{
		{[]string{"--timeout", "2"}, "exit 0", 1, "2 of 3 jobs failed; the first is job 1, timed out after "},
		{[]string{"--timeout", "2", "--retries", "1", "--retry-delay", "0"}, "exit 0", 1, "2 of 3 jobs failed; the first is job 1, timed out after "},
		{[]string{"--halt", "now,fail=1"}, "exit 7", 7, "1 job of 1 failed: job 3, exit status 7"},
		{[]string{"--halt", "now,success=1"}, "exit 0", 0, ""},
		{[]string{"--halt", "now", "-u"}, "kill -9 $$", 137, "job 3, killed by signal 9"},
	}
	for _, test := range tests {
		script := `[ $1 != 3 ] || { while [ $(wc -l <started) -lt 2 ]; do sleep 0.02; done; ` + test.last + `; }; ` + stubborn
		p := newFaultRun(t, append(test.args, "-j", "3", "-s", script, ":::", "1", "2", "3")...)
		p.write("started", "")
		all = append(all, p.start())
	}
	for i, p := range all {
		p.want(tests[i].status, "", tests[i].errs)
	}
}

// leavers are jobs that end before processes that they have started. The last ones ignore
// TERM, or are stopped.
var leavers = []string{
	"sleep 1000 & echo done",
	"sleep 1000 >/dev/null 2>&1 & echo done",
	"(sleep 1000; true) & (sleep 1000; true) >/dev/null 2>&1 & echo done",
	"(sleep 0.2; echo done) &",
	`(trap "" TERM; while :; do sleep 1; done) & echo done`,
	`(trap "" TERM; while :; do sleep 1; done) >/dev/null 2>&1 & echo done`,
	"sleep 1000 >/dev/null & kill -STOP $!; echo done",
}

// TestRunLeavesNoChildren wants that what jobs leave does not outlive the run.
func TestRunLeavesNoChildren(t *testing.T) {
	t.Parallel()
	var all []*faultRun
	for _, flag := range []string{"--keep-order", "--unordered", "--ungroup", "--line-buffer"} {
		all = append(all, newFaultRun(t, append([]string{flag, "-j", "20", ":::"}, leavers...)...).start())
	}
	for _, p := range all {
		p.want(0, strings.Repeat("done\n", len(leavers)), "")
	}
}

// TestRunKilledJobLeavesNoChildren times out and interrupts jobs that have children.
func TestRunKilledJobLeavesNoChildren(t *testing.T) {
	t.Parallel()
	const script = `sleep 1000 & (trap "" TERM; while :; do sleep 1; done) >/dev/null 2>&1 & echo >>started; sleep 1000; echo done $1`
	newFaultRun(t, "--timeout", "0.2", "-s", script, ":::", "1").start().want(1, "", "timed out")
	p := newFaultRun(t, "-s", script, ":::", "1").start()
	p.awaitLines("started", 1)
	p.send(syscall.SIGQUIT)
	p.send(syscall.SIGTERM)
	p.want(131, "", "") // of two signals that wait, QUIT has the lower number
}

// TestRunTimeoutIsOfTheProcess wants the status of a job that ends in time, though what it
// leaves does not.
func TestRunTimeoutIsOfTheProcess(t *testing.T) {
	t.Parallel()
	for range 10 { // on a busy machine the job may be late
		p := newFaultRun(t, "--timeout", "1.2", "-s", "(trap '' TERM; exec sleep 1000) >/dev/null 2>&1 & sleep 0.3; echo done $1", ":::", "1").start().end()
		if p.ProcessState.ExitCode() == 0 {
			p.want(0, "done 1\n", "")
			return
		}
	}
	t.Error("each of ten jobs that end in time has timed out")
}
