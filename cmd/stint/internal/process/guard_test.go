//go:build unix

package process

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

func init() {
	roles["replaced"] = func(args []string) { host(args, replaceWatcher) }
	roles["untold"] = func(args []string) { host(args, silence) }
}

func TestMessages(t *testing.T) {
	for _, test := range []struct {
		name, messages string
		want           []int
	}{
		{"nothing", "", nil},
		{"ended", "+7 +8 -7", []int{8}},
		{"used again", "+7 -7 +7", []int{7}},
		{"end without a start", "-7 +8", []int{8}},
		{"numbers of no group", "+0 +1 -1 +-5 +12345678901 +5 x7", []int{5}},
		{"no numbers", "+ - +x 7", nil},
	} {
		w := watch{running: make(map[int]bool)}
		for _, m := range append(strings.Fields(test.messages), "") {
			w.take(m)
		}
		if got := slices.Sorted(maps.Keys(w.running)); !slices.Equal(got, test.want) {
			t.Errorf("%s: %d, want %d", test.name, got, test.want)
		}
	}
}

// TestWatchKills has a message that was cut, too.
func TestWatchKills(t *testing.T) {
	t.Parallel()
	var messages string
	want := []syscall.Signal{syscall.SIGKILL, syscall.SIGTERM, syscall.SIGKILL, syscall.SIGTERM}
	var all []*Process
	var waits []func() *run
	for range want {
		p, wait := start(t, command(t, "sleep", "1000"))
		all, waits, messages = append(all, p), append(waits, wait), messages+fmt.Sprintf("+%d\n", p.Pid())
	}
	messages = strings.TrimSuffix(messages, "\n")
	Watch(strings.NewReader(fmt.Sprintf("%s-%d\n", messages[:strings.LastIndex(messages, "+")], all[1].Pid())+messages[strings.LastIndex(messages, "+"):]), "", nil)
	for i, p := range all {
		if want[i] == syscall.SIGTERM {
			p.Terminate()
		}
		if r := waits[i](); r.Signal != int(want[i]) {
			t.Errorf("process %d: signal %d, want %d", i, r.Signal, want[i])
		}
	}
}

func TestNewWithoutWatcher(t *testing.T) {
	e, err := New([]string{"/none/watcher", "watch"})
	if e == nil || !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("%v, %v", e, err)
	}
	defer e.Close()
	if r := do(t, e, shell(t, "exit 3"), nil); r.Exit != 3 {
		t.Errorf("%+v", r.Result)
	}
}

// TestWatcherEnds has watchers that end at once, until none is started any more.
// A recorder is a Keeper that notes its messages. The group must have been killed before it is closed.
type recorder struct {
	messages []int
	wait     func() *run
}

func (r *recorder) Tell(message int) { r.messages = append(r.messages, message) }

func (r *recorder) Close() {
	r.wait()
	r.messages = append(r.messages, 7)
}

func TestWatchTellsKeeper(t *testing.T) {
	t.Parallel()
	p, wait := start(t, command(t, "sleep", "1000"))
	r := &recorder{wait: wait}
	Watch(strings.NewReader(fmt.Sprintf("=0\n+%d\n=1\n=-1\n", p.Pid())), "", r)
	if want := []int{0, 1, -1, 7}; !slices.Equal(r.messages, want) {
		t.Errorf("%d, want %d", r.messages, want)
	}
}

func TestWatcherEnds(t *testing.T) {
	e, err := New([]string{"/bin/sh", "sh", "-c", "exit 1"})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	none := func() bool {
		e.guard.mu.Lock()
		defer e.guard.mu.Unlock()
		return e.guard.w == nil
	}
	for n := 0; n < 20 || !none(); n++ {
		if r := do(t, e, shell(t, "exit 3"), nil); r.Exit != 3 {
			t.Fatalf("%+v", r.Result)
		}
	}
}

// host is a process with a watcher that runs a script with arguments. What it writes goes to the
// standard output by way of this process.
func host(args []string, started func(*Engine)) {
	e, err := New(watcher())
	if err != nil {
		panic(err)
	}
	c := &Command{Path: "/bin/sh", Args: append([]string{"sh", "-c"}, args...), Env: os.Environ(), Stdout: os.Stdout}
	_, _ = e.Run(c, func(*Process) { started(e) })
	e.Close()
}

// replaceWatcher kills a watcher, and waits until there is another one.
func replaceWatcher(e *Engine) {
	current := func() *Process {
		e.guard.mu.Lock()
		defer e.guard.mu.Unlock()
		return e.guard.watcher
	}
	first := current()
	for first.Kill(); current() == nil || current() == first; {
		time.Sleep(time.Millisecond)
	}
}

// silence makes a watcher know of no group.
func silence(e *Engine) {
	e.guard.mu.Lock()
	defer e.guard.mu.Unlock()
	for pid := range e.guard.running {
		e.guard.send('-', pid)
	}
}

// TestDeathOfParent kills a host while its script runs. The line of a script comes by way of the
// host, so that the watcher was told.
func TestDeathOfParent(t *testing.T) {
	for name, script := range map[string]string{
		"child":            `echo ready; exec sleep 1000`,
		"grandchild":       `sleep 1000 & echo ready; wait`,
		"orphan":           `(sleep 1000 &); echo ready; exec sleep 1000`,
		"child that stays": `trap '' TERM HUP INT; sleep 1000 & echo ready; wait`,
		"stopped":          `sleep 1000 & kill -STOP $!; echo ready; kill -STOP $$`,
	} {
		for _, role := range []string{"host", "replaced", "untold"} {
			t.Run(role+"/"+name, func(t *testing.T) {
				t.Parallel()
				if role == "untold" && runtime.GOOS != "linux" {
					t.Skip("only Linux tells of processes with the mark")
				}
				pipe, dead := lifeline(t)
				var p *Process
				out := &trigger{f: func() { p.Kill() }}
				c := command(t, executable(), role, `exec 3>"$1"; `+script, "sh", pipe)
				c.Stdout = out
				r := do(t, newEngine(t), c, func(it *Process) { p = it })
				dead()
				if out.String() != "ready\n" || r.Signal != int(syscall.SIGKILL) {
					t.Errorf("%q, %+v, stderr %q", out.String(), r.Result, &r.stderr)
				}
			})
		}
	}
}
