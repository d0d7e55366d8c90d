package process

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func init() { roles["init"], roles["negligent"] = initProcess, negligent }

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

// stateOf returns the state of a process, as in /proc/PID/stat, or a space.
func stateOf(pid int) string {
	state, _ := status(pid)
	return string(max(state, ' '))
}

// await waits until a process is in a state.
func await(pid int, state string) {
	for stateOf(pid) != state {
		time.Sleep(time.Millisecond)
	}
}

// TestToldOfStop has a process that is stopped twice: it is told once.
func TestToldOfStop(t *testing.T) {
	t.Parallel()
	told := make(chan bool, 3)
	c := shell(t, "kill -STOP $$; kill -STOP $$; exit 3")
	c.Stopped = func(*Process) { told <- true }
	p, wait := start(t, c)
	await(p.Pid(), "T")
	<-told
	for range 2 {
		await(p.Pid(), "T")
		_ = syscall.Kill(p.Pid(), syscall.SIGCONT)
		for stateOf(p.Pid()) == "T" {
			runtime.Gosched()
		}
	}
	if r := wait(); r.Exit != 3 || len(told) > 0 {
		t.Errorf("%+v, told %d times more", r.Result, len(told))
	}
}

// initProcess is a process that orphans become children of, as those of the first process of a
// container. It prints what is wrong.
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
				script := fmt.Sprintf("(setsid true &); (setsid sleep 0.%d &); (true & true &) & exit %d", i, exit)
				r, err := e.Run(&Command{Path: "/bin/sh", Args: []string{"sh", "-c", script}, Env: os.Environ()}, func(*Process) {})
				if err != nil || r.Exit != exit || r.Left {
					fmt.Println("exit", exit, "is", r, err)
				}
			}
		})
	}
	wg.Wait()
	e.Close()
	for end := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		if err := unix.Waitid(unix.P_ALL, 0, nil, unix.WEXITED|unix.WNOWAIT|unix.WNOHANG, nil); err == unix.ECHILD {
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
	if r := do(t, newEngine(t), command(t, executable(), "init"), nil); r.stdout.Len() > 0 || r.Exit != 0 {
		t.Errorf("%s, %+v", &r.stdout, r.Result)
	}
}

// TestStartedWhileAnotherEnds has news of a child that came while it was started, and news of an
// earlier one with its number.
func TestStartedWhileAnotherEnds(t *testing.T) {
	e := newEngine(t)
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			for n := range 200 {
				c := shell(t, "exit $1", fmt.Sprint(i))
				if n%2 > 0 {
					c.Path = "/none" // no child at all, or one that has ended at once
					if _, err := e.Run(c, nil); err == nil {
						t.Error("it runs")
					}
				} else if r := do(t, e, c, nil); r.Exit != i {
					t.Errorf("exit %d, want %d", r.Exit, i)
				}
			}
		})
	}
	wg.Wait()
	children.Lock()
	defer children.Unlock()
	if len(children.unknown) > 0 || children.starting != 0 {
		t.Errorf("%d unknown, %d starting", len(children.unknown), children.starting)
	}
}

// TestNoPermission has processes that this process may not end: one that runs, one that it has
// started, and one that ends nevertheless.
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
			c.Stdout = &trigger{f: func() { // as Kill
				for test.exit >= 0 && stateOf(p.pid) != "Z" && !p.Reaped() {
					time.Sleep(time.Millisecond)
				}
				reap()
				p.leave()
			}}
			r := do(t, newEngine(t), c, func(it *Process) { p = it })
			_ = syscall.Kill(-p.pid, syscall.SIGKILL)
			dead()
			if r.Exit != test.exit || r.Left != test.left || !p.over {
				t.Errorf("%+v, over %v", r.Result, p.over)
			}
			await(p.pid, " ") // until it is reaped
		})
	}
}

// negligent is a process that starts a script in a group of its own, and does not wait for it.
func negligent(args []string) {
	p, err := os.StartProcess("/bin/sh", []string{"sh", "-c", args[0]}, &os.ProcAttr{Sys: &syscall.SysProcAttr{Setpgid: true}})
	if err != nil {
		panic(err)
	}
	fmt.Println(p.Pid)
	time.Sleep(time.Hour)
}

// lines is a Writer that sends what comes.
type lines chan string

func (l lines) Write(b []byte) (int, error) {
	l <- string(b)
	return len(b), nil
}

// TestGroupLives has a process that nobody waits for, alone and beside one that lives.
func TestGroupLives(t *testing.T) {
	t.Parallel()
	for script, want := range map[string]bool{"exit 0": false, "sleep 1000 & exit 0": true} {
		c := command(t, executable(), "negligent", script)
		lines := make(lines, 1)
		c.Stdout = lines
		p, wait := start(t, c)
		var member int
		group, err := strconv.Atoi(strings.TrimSpace(<-lines))
		if err != nil {
			t.Fatal(err)
		}
		await(group, "Z")
		for range 2 { // the second time the member is known
			if got := groupLives(group, &member); got != want {
				t.Errorf("%s: %v, want %v; member %d", script, got, want, member)
			}
		}
		_ = syscall.Kill(-group, syscall.SIGKILL)
		p.Kill()
		wait()
	}
}

// TestKillMarked has processes with the mark, without, with another one, and in a session of
// their own, and one that gets it after a while, as one that was executing a program.
func TestKillMarked(t *testing.T) {
	t.Parallel()
	mark, other := newMark(), newMark()
	if mark == other {
		t.Fatalf("%q twice", mark)
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name    string
		env     []string
		session bool
		killed  bool
	}{
		{"marked", []string{"A=b", mark, "C=d"}, false, true},
		{"first", []string{mark, "C=d"}, false, true},
		{"later", []string{}, false, true},
		{"another mark", []string{other}, false, false},
		{"longer", []string{mark + "A"}, false, false},
		{"value", []string{"A=" + mark}, false, false},
		{"session", []string{mark}, true, false},
	} {
		script := `exec sleep 1000`
		if c.name == "later" {
			script = `read x; exec /usr/bin/env "$1" sleep 1000`
		}
		attr := &os.ProcAttr{Env: c.env, Files: []*os.File{r}, Sys: &syscall.SysProcAttr{Setpgid: !c.session, Setsid: c.session}}
		p, err := os.StartProcess("/bin/sh", []string{"sh", "-c", script, "sh", mark}, attr)
		if err != nil {
			t.Fatal(err)
		}
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			_, _ = p.Wait()
		}()
		defer func() {
			_ = syscall.Kill(-p.Pid, syscall.SIGKILL)
			<-ended
		}()
		killMarked(mark, func() {
			if c.name != "later" {
				return
			}
			w.Close()
			for env := []byte(nil); !strings.Contains(string(env), mark) && stateOf(p.Pid) != " "; time.Sleep(time.Millisecond) {
				env, _ = os.ReadFile(fmt.Sprintf("/proc/%d/environ", p.Pid))
			}
		})
		if c.killed {
			<-ended
		} else if s := stateOf(p.Pid); s == " " || s == "Z" {
			t.Errorf("%s: killed", c.name)
		}
	}
	killMarked("", nil)
}
