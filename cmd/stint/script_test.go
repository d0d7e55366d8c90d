package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/stint-go/stint/cmd/stint/internal/console"
	"github.com/stint-go/stint/cmd/stint/internal/run/remote"
	"github.com/stint-go/stint/cmd/stint/internal/sum"
	"github.com/stint-go/stint/cmd/stint/internal/testfiles"
)

// TestMain makes this test binary two commands, stint and deaf. Their leases are short.
func TestMain(m *testing.M) {
	sum.Lease, remote.Lease = time.Second, time.Second
	testscript.Main(ownTokens{m}, programs)
}

// programs are in the PATH of tests.
var programs = map[string]func(){"stint": main, "deaf": deaf}

// ownTokens runs the tests with their own directory for the tokens of servers.
type ownTokens struct{ *testing.M }

func (m ownTokens) Run() int {
	dir, err := os.MkdirTemp("", "stint-")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	for _, s := range []os.Signal{os.Interrupt, syscall.SIGHUP} {
		if signal.Ignored(s) { // as in the background: the programs would ignore it, too
			signal.Notify(make(chan os.Signal, 1), s)
		}
	}
	for _, name := range []string{"XDG_CONFIG_HOME", "AppData"} { // the configuration directory, on some systems
		os.Setenv(name, dir)
	}
	flag.Parse()
	if flag.Lookup("test.parallel").Value.String() == flag.Lookup("test.parallel").DefValue {
		_ = flag.Set("test.parallel", "12") // the tests wait for processes more than they compute
	}
	return m.M.Run()
}

// TestScripts runs testdata/script/*.txtar, which show what a user types and sees.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("HOME", filepath.Join(env.WorkDir, ".tmp")) // where servers write their tokens
			env.Setenv("GORACE", "atexit_sleep_ms=0")              // else each command takes a second under the race detector
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits":  exits,
			"mkfifo": mkfifo,
		},
	})
}

// exits runs a command and wants the exit status that is its first argument.
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

func mkfifo(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: mkfifo name")
	}
	ts.Check(exec.Command("mkfifo", ts.MkAbs(args[0])).Run())
}

// runStint runs a command line in this process and returns what it printed.
func runStint(t *testing.T, stdin string, args ...string) (stdout, stderr string, status int) {
	t.Helper()
	out, errs := new(strings.Builder), new(strings.Builder)
	status = execute(t.Context(), args, console.Streams{Stdin: strings.NewReader(stdin), Stdout: out, Stderr: errs})
	return out.String(), errs.String(), status
}

// wantRun runs a command line without input, and wants its exit status and parts of its
// output and messages; "" is no output.
func wantRun(t *testing.T, status int, stdout, stderr string, args ...string) {
	t.Helper()
	out, errs, got := runStint(t, "", args...)
	if got != status || !strings.Contains(out, stdout) || !strings.Contains(errs, stderr) || stdout == "" && out != "" || stderr == "" && errs != "" {
		t.Errorf("%q: exit status %d, output %q, messages %q; want %d, %q, %q", args, got, out, errs, status, stdout, stderr)
	}
}

// must ends the test with err, if there is one.
func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// file makes a file with a text, for a test that runs beside others, which have the working
// directory. It returns its name.
func file(t *testing.T, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "a")
	testfiles.Write(t, name, text)
	return name
}

// names returns the names in the working directory, hidden files included.
func names(t *testing.T) string {
	t.Helper()
	entries, err := os.ReadDir(".")
	must(t, err)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return strings.Join(names, " ")
}

// difference describes the first line in which got and want differ.
func difference(got, want string) string {
	g, w := strings.SplitAfter(got, "\n"), strings.SplitAfter(want, "\n")
	for i := range min(len(g), len(w)) {
		if g[i] != w[i] {
			return fmt.Sprintf("differs in line %d:\ngot  %q\nwant %q", i+1, g[i], w[i])
		}
	}
	return fmt.Sprintf("has %d lines, want %d", len(g), len(w))
}
