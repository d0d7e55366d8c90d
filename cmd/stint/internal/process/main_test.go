//go:build unix

package process

import (
	"os"
	"testing"
)

// TestMain runs the tests, or a part of one in a process of its own: the role that the first
// argument names.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		if role := roles[os.Args[1]]; role != nil {
			role(os.Args[2:])
			return
		}
	}
	os.Exit(m.Run())
}

// roles are what this program does if a test starts it.
var roles = map[string]func(args []string){
	"watch": func(args []string) { Watch(os.Stdin, args[0], nil) },
	"host":  func(args []string) { host(args, func(*Engine) {}) },
}

// executable returns the path of this program.
func executable() string {
	path, err := os.Executable()
	if err != nil {
		panic(err)
	}
	return path
}

// watcher returns the command line of a watcher.
func watcher() []string { return []string{executable(), "test", "watch"} }

// newEngine returns an Engine without a watcher for the time of the test.
func newEngine(tb testing.TB) *Engine {
	tb.Helper()
	e, err := New(nil)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(e.Close)
	return e
}

// start runs c, and returns when it has started.
func start(tb testing.TB, c *Command) (p *Process, wait func() *run) {
	e := newEngine(tb)
	started, ended := make(chan *Process, 1), make(chan *run, 1)
	go func() { ended <- do(tb, e, c, func(p *Process) { started <- p }) }()
	return <-started, func() *run { return <-ended }
}
