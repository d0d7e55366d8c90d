package process

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func init() { roles["subreaper"], roles["untold"], roles["init"] = subreaper, untold, initProcess }

// TestMaxRSS runs processes that need less and more memory than this process, which has some.
func TestMaxRSS(t *testing.T) {
	ballast := make([]byte, 64<<20)
	for i := range ballast {
		ballast[i] = 1
	}
	own := readPeak()
	if own < int64(len(ballast)) {
		t.Fatalf("this process has had %d bytes, it says", own)
	}
	e := newEngine(t)
	if r := do(t, e, shell(t, "exit 0"), nil); r.MaxRSS != 0 {
		t.Errorf("a shell has %d MiB, this process %d", r.MaxRSS>>20, own>>20)
	}
	size := own + own/8 + 32<<20
	dd := command(t, "dd", "if=/dev/zero", "of=/dev/null", "count=1", fmt.Sprint("bs=", size))
	for _, c := range []*Command{dd, shell(t, strings.Join(dd.Args, " ")+"; exit 0")} {
		if r := do(t, e, c, nil); r.MaxRSS < size || r.MaxRSS > size+64<<20 {
			t.Errorf("MaxRSS %d MiB, want %d", r.MaxRSS>>20, size>>20)
		}
	}
	runtime.KeepAlive(ballast)
}

// TestAwaitExit waits with a descriptor, without, and with one of another kind.
func TestAwaitExit(t *testing.T) {
	for name, descriptor := range map[string]func(pid, fd int) int{
		"descriptor": func(pid, fd int) int { return fd },
		"none":       func(pid, fd int) int { syscall.Close(fd); return -1 },
		"wrong": func(pid, fd int) int {
			syscall.Close(fd)
			file, err := syscall.Open("/dev/null", syscall.O_RDONLY, 0)
			if err != nil {
				t.Fatal(err)
			}
			return file
		},
	} {
		path, err := exec.LookPath("sleep")
		if err != nil {
			t.Skip(err)
		}
		pid, fd, err := fork(path, []string{"sleep", "0.01"}, &syscall.ProcAttr{Sys: attributes()})
		if err != nil {
			t.Fatal(err)
		}
		if fd < 0 {
			t.Skip("the kernel has no descriptors of processes")
		}
		if !awaitExit(pid, exitOf(descriptor(pid, fd))) {
			t.Errorf("%s: could not wait", name)
		}
		if n, err := syscall.Wait4(pid, nil, syscall.WNOHANG, nil); n != pid {
			t.Errorf("%s: process %d was not to be waited for: %d, %v", name, pid, n, err)
		}
	}
}

// TestNoChild waits for a process that is not a child.
func TestNoChild(t *testing.T) {
	if !awaitExit(os.Getpid(), nil) {
		t.Error("want the end of the wait")
	}
	if r := reap(os.Getpid()); r != (Result{Exit: -1}) {
		t.Errorf("%+v", r)
	}
}

// state returns the state of a process, as in /proc/PID/stat.
func state(pid int) string {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, after, _ := strings.Cut(string(text), ") ")
	return after[:min(1, len(after))]
}

// TestStopped stops a process, which is not its end, and ends it.
func TestStopped(t *testing.T) {
	t.Parallel()
	for _, end := range []func(*Process){(*Process).Terminate, (*Process).Kill} {
		stopped := false
		r := do(t, newEngine(t), shell(t, "kill -STOP $$; exit 3"), func(p *Process) {
			go func() {
				for state(p.Pid()) != "T" {
					time.Sleep(time.Millisecond)
				}
				stopped = !p.Reaped()
				end(p)
			}()
		})
		if !stopped || r.Signal == 0 {
			t.Errorf("stopped %v, %+v", stopped, r.Result)
		}
	}
}

// TestContinued stops a process, and lets it continue.
func TestContinued(t *testing.T) {
	t.Parallel()
	r := do(t, newEngine(t), shell(t, "kill -STOP $$; exit 3"), func(p *Process) {
		go func() {
			for state(p.Pid()) != "T" {
				time.Sleep(time.Millisecond)
			}
			_ = syscall.Kill(p.Pid(), syscall.SIGCONT)
		}()
	})
	if r.Exit != 3 {
		t.Errorf("%+v", r.Result)
	}
}

// subreaper is a process that orphans become children of, as those of the first process of a
// container.
func subreaper(args []string) {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		fmt.Println(err)
		return
	}
	e, err := New(nil)
	if err != nil {
		panic(err)
	}
	r, err := e.Run(&Command{Path: "/bin/sh", Args: append([]string{"sh", "-c"}, args...)}, func(*Process) {})
	pid, left := syscall.Wait4(-1, nil, syscall.WNOHANG, nil)
	fmt.Println(r.Exit, err, pid, left)
}

func TestOrphansAreReaped(t *testing.T) {
	for _, script := range []string{"(true & true & true) & exit 3", "sleep 1000 & exit 3"} {
		t.Run(script, func(t *testing.T) {
			t.Parallel()
			out, err := exec.Command(executable(), "subreaper", script).CombinedOutput()
			if want := fmt.Sprintln(3, nil, -1, syscall.ECHILD); string(out) != want || err != nil {
				t.Errorf("%q, %v, want %q", out, err, want)
			}
		})
	}
}

// initProcess is a subreaper that reaps orphans while it runs processes of its own. It prints
// what is wrong.
func initProcess([]string) {
	_ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
	ReapOrphans()
	e, err := New(watcher())
	if err != nil {
		panic(err)
	}
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			for exit := range 40 {
				script := fmt.Sprintf("(setsid true &); (setsid sleep 0.%d &); exit %d", i, exit)
				r, err := e.Run(&Command{Path: "/bin/sh", Args: []string{"sh", "-c", script}, Env: os.Environ()}, func(*Process) {})
				if err != nil || r.Exit != exit {
					fmt.Println("exit", exit, "is", r.Exit, err)
				}
			}
		})
	}
	wg.Wait()
	e.Close()
	for end := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		var info unix.Siginfo
		if err := unix.Waitid(unix.P_ALL, 0, &info, unix.WEXITED|unix.WNOWAIT|unix.WNOHANG, nil); err == unix.ECHILD {
			return
		}
		if time.Now().After(end) {
			fmt.Println("children are left")
			return
		}
	}
}

func TestReapOrphans(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("setsid"); err != nil {
		t.Skip(err)
	}
	if out, err := exec.Command(executable(), "init").CombinedOutput(); len(out) > 0 || err != nil {
		t.Errorf("%s, %v", out, err)
	}
}

// TestNoPermission has processes that this process may not end: one that runs, one that it has started,
// and one that ends nevertheless.
func TestNoPermission(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		script string
		exit   int
		left   bool
	}{
		"first":  {"echo; exec sleep 1000", -1, true},
		"second": {"sleep 1000 & echo", 0, true},
		"ends":   {"echo; exit 3", 3, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var p *Process
			pipe, dead := lifeline(t)
			c := shell(t, `exec 3>"$1"; `+test.script, pipe)
			c.Stdout = &trigger{f: func() {
				for test.exit >= 0 && state(p.pid) != "Z" && !p.Reaped() {
					time.Sleep(time.Millisecond)
				}
				p.mu.Lock()
				defer p.mu.Unlock()
				p.leave()
			}}
			r := do(t, newEngine(t), c, func(it *Process) { p = it })
			_ = syscall.Kill(-p.pid, syscall.SIGKILL)
			dead()
			if r.Exit != test.exit || r.Left != test.left || !p.over {
				t.Errorf("%+v, over %v", r.Result, p.over)
			}
			if name == "first" {
				for state(p.pid) != "" { // until it is reaped
					time.Sleep(time.Millisecond)
				}
			}
		})
	}
}

// TestMemberOf has a process that nobody waits for, alone and beside one that lives.
func TestMemberOf(t *testing.T) {
	dead := exec.Command("true")
	dead.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := dead.Start(); err != nil {
		t.Fatal(err)
	}
	group := dead.Process.Pid
	for state(group) != "Z" {
		time.Sleep(time.Millisecond)
	}
	want := func(last, want int) {
		t.Helper()
		if got := memberOf(group, last); got != want {
			t.Errorf("member %d after %d, want %d", got, last, want)
		}
	}
	want(0, 0)
	want(group, 0)
	other := exec.Command("sleep", "1000")
	other.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pgid: group}
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	for _, last := range []int{0, -1, os.Getpid(), group, other.Process.Pid} {
		want(last, other.Process.Pid)
	}
	_ = other.Process.Kill()
	_ = other.Wait()
	want(other.Process.Pid, 0)
	_ = dead.Wait()
	want(0, -1)
}

// TestKillMarked has processes with the mark, without, with another one, and in a session of
// their own.
func TestKillMarked(t *testing.T) {
	t.Parallel()
	mark, other := newMark(), newMark()
	if mark == other {
		t.Fatalf("%q twice", mark)
	}
	for _, c := range []struct {
		name    string
		env     []string
		session bool
		want    syscall.Signal
	}{
		{"marked", []string{"A=b", mark, "C=d"}, false, syscall.SIGKILL},
		{"first", []string{mark, "C=d"}, false, syscall.SIGKILL},
		{"twice", []string{other, mark}, false, syscall.SIGKILL},
		{"not marked", []string{"A=b"}, false, syscall.SIGTERM},
		{"another mark", []string{other}, false, syscall.SIGTERM},
		{"longer", []string{mark + "A"}, false, syscall.SIGTERM},
		{"value", []string{"A=" + mark}, false, syscall.SIGTERM},
		{"session", []string{mark}, true, syscall.SIGTERM},
	} {
		cmd := exec.Command("sleep", "1000")
		cmd.Env, cmd.SysProcAttr = c.env, &syscall.SysProcAttr{Setpgid: !c.session, Setsid: c.session}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		killMarked(mark, func() { time.Sleep(watchInterval) })
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait()
		if got := cmd.ProcessState.Sys().(syscall.WaitStatus).Signal(); got != c.want {
			t.Errorf("%s: %v ended it, want %v", c.name, got, c.want)
		}
	}
	killMarked("", nil)
}

// TestKillMarkedWaits has a process without variables that later gets the mark, as one that was
// executing a program.
func TestKillMarkedWaits(t *testing.T) {
	t.Parallel()
	mark := newMark()
	cmd := exec.Command("/bin/sh", "-c", `read x; exec /usr/bin/env "$1" sleep 1000`, "sh", mark)
	cmd.Env, cmd.SysProcAttr = []string{}, &syscall.SysProcAttr{Setpgid: true}
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	marked := func() bool {
		env, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", cmd.Process.Pid))
		return err != nil || strings.Contains(string(env), mark)
	}
	pauses := 0
	killMarked(mark, func() {
		pauses++
		in.Close()
		for !marked() {
			time.Sleep(time.Millisecond)
		}
	})
	_ = cmd.Process.Signal(syscall.SIGTERM)
	_ = cmd.Wait()
	if got := cmd.ProcessState.Sys().(syscall.WaitStatus).Signal(); got != syscall.SIGKILL || pauses == 0 {
		t.Errorf("%v ended it after %d pauses", got, pauses)
	}
}

// untold is a host whose watcher hears of no group.
func untold(args []string) {
	e, err := New(watcher())
	if err != nil {
		panic(err)
	}
	pipe := e.guard.w
	e.guard.w = e.null
	runScript(e, args)
	pipe.Close()
}

// TestWatcherFindsProcesses kills a host that has not told its watcher of the group.
func TestWatcherFindsProcesses(t *testing.T) { testDeath(t, "untold") }
