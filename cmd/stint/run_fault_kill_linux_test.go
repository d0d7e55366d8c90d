package main

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// logged returns the last argument of each command in the job log of the run, sorted as
// numbers. Lines that were not written to their end do not count.
func (p *faultRun) logged() []string {
	p.t.Helper()
	var items []string
	for _, line := range p.lines("log") {
		fields := strings.Split(line, "\t")
		if len(fields) == 9 && fields[0] != "Seq" && fields[8] != "<incomplete>" {
			items = append(items, fields[8][strings.LastIndexByte(fields[8], ' ')+1:])
		}
	}
	return sortNumbers(items)
}

func sortNumbers(items []string) []string {
	number := func(s string) int { n, _ := strconv.Atoi(s); return n }
	slices.SortFunc(items, func(a, b string) int { return cmp.Compare(number(a), number(b)) })
	return items
}

// TestRunKilled kills stint at various moments. Its jobs, their children and the watcher are
// gone soon after.
func TestRunKilled(t *testing.T) {
	t.Parallel()
	times := 25
	if testing.Short() {
		times = 5
	}
	for i := range times {
		for _, flag := range []string{"--tag", "--ungroup"} {
			p := newFaultRun(t, append([]string{flag, "-j", "4", "-s", "echo >>started; (sleep 1000; true) & sleep 1000; : $1", ":::"}, items1to(10)...)...)
			p.start()
			if i%5 == 0 {
				p.awaitLines("started", 4)
			} else {
				time.Sleep(time.Duration(rand.IntN(20_000)) * time.Microsecond)
			}
			p.send(syscall.SIGKILL)
			p.end()
		}
	}
}

// TestRunKilledWithItsGroup kills stint as a terminal or a supervisor does, with all of its
// process group: the watcher is not in it.
func TestRunKilledWithItsGroup(t *testing.T) {
	t.Parallel()
	p := newFaultRun(t, "-j", "2", "-s", "echo >>started; (sleep 1000; true) & sleep 1000; : $1", ":::", "1", "2")
	p.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	p.start().awaitLines("started", 2)
	must(t, syscall.Kill(-p.Process.Pid, syscall.SIGKILL))
	p.end()
}

// TestRunKilledWhileChildrenStart kills stint when a job has just started another process.
func TestRunKilledWhileChildrenStart(t *testing.T) {
	t.Parallel()
	for range 10 {
		p := newFaultRun(t, append([]string{"-j", "8", "-s", "sleep 1000 & sleep 0.01; kill $!; : $1", ":::"}, items1to(1000)...)...).start()
		time.Sleep(50*time.Millisecond + time.Duration(rand.IntN(50_000))*time.Microsecond)
		p.send(syscall.SIGKILL)
		p.end()
	}
}

// TestRunResumeAfterKill kills runs at various moments and resumes them: each job is done
// once, but for those that ran when stint was killed.
func TestRunResumeAfterKill(t *testing.T) {
	t.Parallel()
	for _, jobs := range []int{1, 8} {
		kills, n := 24, 300
		if testing.Short() {
			kills, n = 5, 60
		}
		r := resumption{t: t, dir: t.TempDir(), jobs: jobs, n: n}
		for r.kill = 1; r.kill <= kills; r.kill++ {
			s := []syscall.Signal{syscall.SIGKILL, syscall.SIGKILL, syscall.SIGTERM}[r.kill%3]
			p := r.start()
			before := len(p.logged())
			eventually(func() bool { return len(p.logged()) > before+rand.IntN(n/kills) || r.ended(p) })
			time.Sleep(time.Duration(rand.IntN(5000)) * time.Microsecond)
			_ = p.Process.Signal(s)
			r.check(p)
		}
		last := r.start()
		if r.check(last); last.ProcessState.ExitCode() != 0 {
			t.Errorf("exit status %d; messages %.1000q", last.ProcessState.ExitCode(), last.errs.String())
		}
		if got := last.logged(); !slices.Equal(got, items1to(n)) {
			t.Errorf("-j %d: the log has %d jobs, want %d, each once: %q", jobs, len(got), n, got)
		}
	}
}

// A resumption is a run that is killed and resumed.
type resumption struct {
	t       *testing.T
	dir     string
	jobs, n int
	kill    int             // number of the present run
	logged  map[string]bool // before it
}

// start starts the next run. Its jobs write their number and that of the run in one write.
func (r *resumption) start() *faultRun {
	p := newFaultRun(r.t, append([]string{"-j", fmt.Sprint(r.jobs), "--joblog", "log", "--resume", "-s", "sleep 0.00$(($1 % 7)); echo $1 $RUN >>runs", ":::"}, items1to(r.n)...)...)
	p.Dir, p.Env = r.dir, append(p.Env, fmt.Sprint("RUN=", r.kill))
	r.logged = map[string]bool{}
	for _, item := range p.logged() {
		r.logged[item] = true
	}
	return p.start()
}

func (r *resumption) ended(p *faultRun) bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// check waits for the end of p. Its jobs must not have been in the log before, and all but
// those that ran at the end are in it now.
func (r *resumption) check(p *faultRun) {
	r.t.Helper()
	p.end()
	p.wantNothingLeft()
	now := map[string]bool{}
	for _, item := range p.logged() {
		if now[item] {
			r.t.Errorf("job %s is in the log twice", item)
		}
		now[item] = true
	}
	running := 0
	for _, line := range p.lines("runs") {
		item, run, _ := strings.Cut(line, " ")
		if run != fmt.Sprint(r.kill) {
			continue
		}
		if r.logged[item] {
			r.t.Errorf("job %s has run again, though it was in the log", item)
		}
		if !now[item] {
			running++
		}
	}
	if running > r.jobs {
		r.t.Errorf("%d jobs have run and are not in the log, want %d at most", running, r.jobs)
	}
}

// TestRunResumeTornLog resumes after a kill that has cut the last line, anywhere.
func TestRunResumeTornLog(t *testing.T) {
	t.Parallel()
	p := newFaultRun(t, append([]string{"-j", "1", "--joblog", "log", "echo", ":::"}, items1to(12)...)...).start().end()
	b, err := os.ReadFile(filepath.Join(p.Dir, "log"))
	must(t, err)
	log := string(b)
	var all []*faultRun
	for cut := 0; cut < len(log); cut += 1 + len(log)/40 {
		q := newFaultRun(t, append([]string{"--joblog", "log", "--resume", "echo", ":::"}, items1to(12)...)...)
		q.write("log", log[:cut])
		all = append(all, q.start())
		whole := max(0, strings.Count(log[:cut], "\n")-1)
		q.want(0, strings.Join(append(items1to(12)[whole:], ""), "\n"), "")
	}
	for _, q := range all { // twice more: nothing is left to do
		r := newFaultRun(t, append([]string{"--joblog", "log", "--resume", "echo", ":::"}, items1to(12)...)...)
		r.Dir = q.Dir
		r.start().want(0, "", "")
		if got := r.logged(); !slices.Equal(got, items1to(12)) {
			t.Errorf("the log has %q", got)
		}
	}
}

// TestRunsShareJoblog runs two commands that append to one log.
func TestRunsShareJoblog(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var all []*faultRun
	for i := range 2 {
		items := items1to(400)[200*i : 200*i+200]
		p := newFaultRun(t, append([]string{"-j", "4", "--joblog", "log", "--resume", "-s", `echo $1 >>runs`, ":::"}, items...)...)
		p.Dir = dir
		all = append(all, p.start())
	}
	for _, p := range all {
		p.want(0, "", "")
	}
	if got := all[0].logged(); !slices.Equal(got, items1to(400)) {
		t.Errorf("the log has %d jobs, want 400, each once: %q", len(got), all[0].lines("log"))
	}
	if got := sortNumbers(all[0].lines("runs")); !slices.Equal(got, items1to(400)) {
		t.Errorf("%d jobs have run, want 400, each once", len(got))
	}
}
