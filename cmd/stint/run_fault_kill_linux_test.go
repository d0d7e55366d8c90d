package main

import (
	"bytes"
	"cmp"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
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

// TestRunKilled kills stint at various moments, also when a job has just started another process.
// Its jobs, their children and the watcher are gone soon after.
func TestRunKilled(t *testing.T) {
	t.Parallel()
	for _, script := range []string{"echo >>started; (sleep 1000; true) & sleep 1000; : $1", "echo >>started; sleep 1000 & sleep 0.01; kill $!; : $1"} {
		for i, flag := range []string{"--tag", "--ungroup", "--tag", "--ungroup"} {
			p := newFaultRun(t, append([]string{flag, "-j", "4", "-s", script, ":::"}, items1to(1000)...)...).start()
			if i < 2 {
				p.awaitLines("started", 4)
			}
			time.Sleep(time.Duration(rand.IntN(20_000)) * time.Microsecond)
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

func init() { programs["adopt"], programs["unkillable"] = adopt, unkillable }

// adopt executes its arguments as a process whose children are orphans, too, as those of the first
// one of a container. One has ended before, and one ends later.
func adopt() {
	err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
	if err == nil {
		err = exec.Command("sh", "-c", "true & (sleep 0.5; echo >>ended) & exit").Run()
	}
	if err == nil {
		os.Args[1], err = exec.LookPath(os.Args[1])
	}
	if err == nil {
		err = syscall.Exec(os.Args[1], os.Args[1:], os.Environ())
	}
	panic(err)
}

// zombies returns how many children of a process have ended and were not reaped.
func zombies(parent int) (n int) {
	files, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, name := range files {
		stat, _ := os.ReadFile(name)
		if strings.HasPrefix(string(stat[bytes.LastIndexByte(stat, ')')+1:]), fmt.Sprintf(" Z %d ", parent)) {
			n++
		}
	}
	return n
}

// TestOrphansAreReaped has each command that lasts as the first process of a container.
func TestOrphansAreReaped(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{
		{"run", "-s", "(setsid true &); (setsid sleep 0.1 &); exec sleep 1000; : $1", ":::", "1"},
		{"serve", "--listen", "127.0.0.1:0"},
		{"work", "--cluster", "nats://127.0.0.1:1"},
		{"sum", "-"},
	} {
		t.Run(args[0], func(t *testing.T) {
			t.Parallel()
			p := newFaultRun(t).within("adopt")
			p.Args = append([]string{"adopt", "stint"}, args...)
			in, err := p.StdinPipe()
			must(t, err)
			defer in.Close()
			p.start()
			p.awaitLines("ended", 1)
			if !eventually(func() bool { return zombies(p.Process.Pid) == 0 }) {
				t.Errorf("%d zombies, want none", zombies(p.Process.Pid))
			}
			p.send(syscall.SIGTERM)
			p.end()
		})
	}
}

// unkillable makes all its users root, which it must be by its mode, and sleeps until there is a
// file go.
func unkillable() {
	if err := syscall.Setresuid(0, 0, 0); err != nil {
		fmt.Println(err)
		return
	}
	err := os.WriteFile("started", []byte("\n"), 0o666)
	if err != nil {
		fmt.Println(err)
		return
	}
	for err = os.ErrNotExist; err != nil; _, err = os.Stat("go") {
		time.Sleep(20 * time.Millisecond)
	}
}

// TestRunLeavesOtherUsers runs jobs that have become root: --timeout and signals do not end them,
// and the run does not wait. In package process, TestNoPermission needs no rights.
func TestRunLeavesOtherUsers(t *testing.T) {
	t.Parallel()
	skipUnlessRoot(t)
	path, err := exec.LookPath("unkillable")
	must(t, err)
	program, err := os.ReadFile(path)
	must(t, err)
	for name, args := range map[string][]string{
		"timeout": {"--timeout", "0.3", "--retries", "3"},
		"halt":    {"--halt", "now"},
		"signals": nil,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, err := os.MkdirTemp("", "stint-")
			must(t, err)
			defer os.RemoveAll(dir)
			must(t, os.Chmod(dir, 0o777))
			suid := filepath.Join(dir, "unkillable")
			must(t, os.WriteFile(suid, program, 0o755))
			must(t, os.Chmod(suid, 0o755|os.ModeSetuid))
			args = append(args, "-j", "2", "-s", "[ $1 = 2 ] || exec "+suid+"; while [ ! -e started ]; do sleep 0.02; done; exit $1", ":::", "1")
			if name == "halt" {
				args = append(args, "2")
			}
			p := newFaultRun(t, args...).within("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups")
			p.Dir, p.daemons = dir, true
			stint, err := exec.LookPath("stint")
			must(t, err)
			p.Args = append(p.Args[:4], append([]string{stint}, p.Args[5:]...)...)
			p.start()
			p.awaitLines("started", 1)
			status, errs := 1, "timed out after "
			switch name {
			case "halt":
				status, errs = 2, "job 2, exit status 2"
			case "signals":
				p.send(syscall.SIGINT)
				p.send(syscall.SIGTERM)
				status, errs = 130, ""
			}
			if p.end(); p.ProcessState.ExitCode() != status || !strings.Contains(p.errs.String(), errs) || strings.Count(p.errs.String(), " cannot be ended, and run on\n") != 1 {
				t.Errorf("exit status %d, messages %q", p.ProcessState.ExitCode(), p.errs.String())
			}
			p.write("go", "")
		})
	}
}

// TestRunResumeAfterKill kills runs at various moments and resumes them: each job is done
// once, but for those that ran when stint was killed.
func TestRunResumeAfterKill(t *testing.T) {
	t.Parallel()
	for _, jobs := range []int{1, 8} {
		const kills, n = 6, 72
		r := resumption{t: t, dir: t.TempDir(), jobs: jobs, n: n}
		for r.kill = 1; r.kill <= kills; r.kill++ {
			s := []syscall.Signal{syscall.SIGKILL, syscall.SIGKILL, syscall.SIGTERM}[r.kill%3]
			p := r.start()
			before := len(p.logged())
			eventually(func() bool { return len(p.logged()) > before+rand.IntN(n/kills) || p.ended() })
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
	for cut := 0; cut < len(log); cut += 1 + len(log)/15 {
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

// TestRunsShareJoblog runs two commands that append to one log: long lines, more than a pipe writes
// at once. The last one writes it to its standard output, a file that has something already.
func TestRunsShareJoblog(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	text := ": " + strings.Repeat("x", 10_000) + "; echo $1 >>runs"
	var all []*faultRun
	for i := range 2 {
		p := newFaultRun(t, append([]string{"-j", "4", "--joblog", "log", "--resume", "-s", text, ":::"}, items1to(400)[200*i:200*i+200]...)...)
		p.Dir = dir
		all = append(all, p.start())
	}
	for _, p := range all {
		p.want(0, "", "")
	}
	if got := all[0].logged(); !slices.Equal(got, items1to(400)) {
		t.Errorf("the log has %d jobs, want 400, each once: %.1000q", len(got), all[0].lines("log"))
	}
	if got := sortNumbers(all[0].lines("runs")); !slices.Equal(got, items1to(400)) {
		t.Errorf("%d jobs have run, want 400, each once", len(got))
	}
	for _, name := range []string{"-", "/dev/stdout"} {
		p := newFaultRun(t, append([]string{"--joblog", name, "-s", "echo out $1", ":::"}, items1to(20)...)...)
		p.within("sh", "-c", `{ echo before; exec "$@"; } > log`, "sh").start().want(0, "", "")
		if lines := p.lines("log"); len(lines) != 42 || lines[0] != "before" || !slices.Equal(p.logged(), items1to(20)) {
			t.Errorf("%s: the output is %q", name, lines)
		}
	}
}
