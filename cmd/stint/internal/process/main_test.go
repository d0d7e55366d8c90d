package process

import (
	"os"
	"testing"
)

// TestMain runs the tests, or a part of them in a process of its own: the role that the
// second argument names.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		if role := roles[os.Args[1]]; role != nil {
			role()
			return
		}
	}
	os.Exit(m.Run())
}

// roles are what this program does when it is started by a test.
var roles = map[string]func(){
	"watch": func() { Watch(os.Stdin) },
}

// roleCommand returns the command line of a role. The first element is the path, as New wants
// it.
func roleCommand(tb testing.TB, role string) []string {
	tb.Helper()
	path, err := os.Executable()
	if err != nil {
		tb.Fatal(err)
	}
	return []string{path, "test", role}
}

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
