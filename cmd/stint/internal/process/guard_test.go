//go:build unix

package process

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"slices"
	"syscall"
	"testing"
	"testing/iotest"
)

// messages returns what a guard reads.
func messages(numbers ...int32) []byte {
	var b []byte
	for _, n := range numbers {
		b = binary.LittleEndian.AppendUint32(b, uint32(n))
	}
	return b
}

// many returns the messages of so many groups, of which only the last one is left.
func many(n int32) (all []int32) {
	for pid := int32(2); pid < n; pid++ {
		all = append(all, pid, -pid)
	}
	return append(all, n)
}

// Readers of messages.
var (
	whole    = func(b []byte) io.Reader { return bytes.NewReader(b) }
	bytewise = func(b []byte) io.Reader { return iotest.OneByteReader(bytes.NewReader(b)) }
	odd      = func(b []byte) io.Reader { return io.MultiReader(bytes.NewReader(b[:5]), bytes.NewReader(b[5:])) }
	failing  = func(b []byte) io.Reader {
		return io.MultiReader(bytes.NewReader(b), iotest.ErrReader(errors.New("broken")))
	}
)

var leftCases = []struct {
	name    string
	reader  func([]byte) io.Reader
	numbers []int32
	extra   int // bytes of one more message
	want    []int
}{
	{"nothing", whole, nil, 0, nil},
	{"one", whole, []int32{7}, 0, []int{7}},
	{"ended", whole, []int32{7, 8, -7}, 0, []int{8}},
	{"all ended", whole, []int32{7, 8, -8, -7}, 0, nil},
	{"used again", whole, []int32{7, -7, 7}, 0, []int{7}},
	{"end without a start", whole, []int32{-7, 8}, 0, []int{8}},
	{"numbers of no group", whole, []int32{0, 1, -1, 1 << 30, -1 << 31}, 0, []int{1 << 30}},
	{"half a message", whole, []int32{7}, 3, []int{7}},
	{"byte by byte", bytewise, []int32{300, 70000, -300}, 2, []int{70000}},
	{"in the middle", odd, []int32{300, 70000, 5, -300}, 1, []int{5, 70000}},
	{"error", failing, []int32{7, 8, -8}, 1, []int{7}},
	{"more than a buffer", whole, many(20000), 0, []int{20000}},
}

func TestLeft(t *testing.T) {
	for _, c := range leftCases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := append(messages(c.numbers...), make([]byte, c.extra)...)
			w := watch{running: make(map[int]bool)}
			w.read(c.reader(b))
			if got := slices.Sorted(maps.Keys(w.running)); !slices.Equal(got, c.want) {
				t.Errorf("%d, want %d", got, c.want)
			}
		})
	}
}

// sleeper starts a process in a group of its own.
func sleeper(t *testing.T) *exec.Cmd {
	t.Helper()
	c := exec.Command("sleep", "1000")
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	return c
}

func TestWatchKills(t *testing.T) {
	t.Parallel()
	first, ended, last := sleeper(t), sleeper(t), sleeper(t)
	pid := func(c *exec.Cmd) int32 { return int32(c.Process.Pid) }
	Watch(bytes.NewReader(messages(pid(first), pid(ended), -pid(ended), pid(last))), "")
	_ = ended.Process.Signal(syscall.SIGTERM)
	for c, want := range map[*exec.Cmd]syscall.Signal{first: syscall.SIGKILL, ended: syscall.SIGTERM, last: syscall.SIGKILL} {
		_ = c.Wait()
		if got := c.ProcessState.Sys().(syscall.WaitStatus).Signal(); got != want {
			t.Errorf("%v ended it, want %v", got, want)
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

// TestWatcherDies kills the watcher, or lets it end at once.
func TestWatcherDies(t *testing.T) {
	e, err := New(watcher())
	if err != nil {
		t.Fatal(err)
	}
	if err := e.guard.process.Kill(); err != nil {
		t.Fatal(err)
	}
	other, err := New([]string{"/bin/sh", "sh", "-c", "exit 1"})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range []*Engine{e, other} {
		for range 20 {
			if r := do(t, e, shell(t, "exit 3"), nil); r.Exit != 3 {
				t.Errorf("%+v", r.Result)
			}
		}
		e.Close()
	}
}

// host is a process with a watcher that runs a script.
func host(args []string) {
	e, err := New(watcher())
	if err != nil {
		panic(err)
	}
	runScript(e, args)
	e.Close()
}

// runScript runs a script with arguments. What it writes goes to the standard output by way of
// this process.
func runScript(e *Engine, args []string) {
	c := &Command{Path: "/bin/sh", Args: append([]string{"sh", "-c"}, args...), Env: os.Environ(), Stdout: os.Stdout}
	_, _ = e.Run(c, func(*Process) {})
}

// TestDeathOfParent kills a host while its script runs.
func TestDeathOfParent(t *testing.T) { testDeath(t, "host") }

// testDeath kills a process that runs scripts in a role. The line of a script comes by way of
// the host, so that the watcher knows of the group.
func testDeath(t *testing.T, role string) {
	for name, script := range map[string]string{
		"child":            `echo ready; exec sleep 1000`,
		"grandchild":       `sleep 1000 & echo ready; wait`,
		"orphan":           `(sleep 1000 &); echo ready; exec sleep 1000`,
		"child that stays": `trap '' TERM HUP INT; sleep 1000 & echo ready; wait`,
		"stopped":          `sleep 1000 & kill -STOP $!; echo ready; kill -STOP $$`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pipe, dead := lifeline(t)
			c := exec.Command(executable(), role, `exec 3>"$1"; `+script, "sh", pipe)
			out, err := c.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
			if line, err := bufio.NewReader(out).ReadString('\n'); line != "ready\n" {
				t.Errorf("%q, %v", line, err)
			}
			_ = c.Process.Kill()
			_ = c.Wait()
			dead()
		})
	}
}
