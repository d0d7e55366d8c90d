package main

import (
	"errors"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestMain also puts two commands that are this test binary on the path. In them too
// the file of a worker that has died is soon given to another.
func TestMain(m *testing.M) {
	lease = time.Second
	testscript.Main(secluded{m}, map[string]func(){"stint": main, "deaf": deaf})
}

// secluded runs the tests with a directory of their own for the tokens of servers.
type secluded struct{ *testing.M }

func (s secluded) Run() int {
	dir, err := os.MkdirTemp("", "stint-")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	os.Setenv("XDG_RUNTIME_DIR", dir)
	return s.M.Run()
}

// TestScripts runs testdata/script/*.txtar. What the files contain is what a
// user types and sees.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("GORACE", "atexit_sleep_ms=0") // else each command takes a second under the race detector
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits":  exits,
			"mkfifo": fifo,
		},
	})
}

// exits runs a command and wants the exit status that its first argument is.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits status command args...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	var exit *exec.ExitError
	switch err := ts.Exec(args[1], args[2:]...); {
	case errors.As(err, &exit):
		got = exit.ExitCode()
	case err != nil:
		ts.Fatalf("%v", err)
	}
	if got != want {
		ts.Fatalf("exit status %d, want %d", got, want)
	}
}

func fifo(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: mkfifo name")
	}
	ts.Check(exec.Command("mkfifo", ts.MkAbs(args[0])).Run())
}

// runStint runs one command line in this process and returns what it wrote.
func runStint(t *testing.T, stdin string, args ...string) (stdout, stderr string, status int) {
	t.Helper()
	in, out, errs := strings.NewReader(stdin), new(strings.Builder), new(strings.Builder)
	status = run(t.Context(), args, in, out, errs)
	return out.String(), errs.String(), status
}

// write makes a file.
func write(t *testing.T, name, content string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(content), 0o666); err != nil {
		t.Fatal(err)
	}
}
