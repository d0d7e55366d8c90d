package main

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stint-go/stint/cmd/stint/internal/testfiles"
	"github.com/stint-go/stint/cmd/stint/internal/testterm"
)

// TestTerminal runs scripts on a terminal, and wants on its screen what they write, and of the progress
// line no rest, but the LINE that it leaves, unless the output ends in the middle of one. drawn waits until
// the line is there, a_while is the time in which it would come, all_done waits until three jobs have
// ended: once its input has ended, stint may show a line.
func TestTerminal(t *testing.T) {
	const prelude = `drawn() { while [ ! -e drawn ]; do sleep 0.02; done; }; a_while() { sleep 0.35; }
		all_done() { until [ "$(cat log 2> /dev/null | wc -l)" = 4 ]; do sleep 0.02; done; }
		`
	jobs := func(flags, script, items string) string {
		return "stint run " + flags + " -s '" + prelude + script + "' ::: " + items
	}
	for _, test := range []struct {
		what, script string
		columns      int
		isDrawn      bool
		want         string
	}{
		{"no output", jobs("", "drawn; : {}", "a"), 80, true, "LINE\n"},
		{"answers without a newline", jobs("-u -j1", `drawn; printf "answer-{} "; a_while`, "1 2 3"), 80, true, "answer-1 answer-2 answer-3"},
		{"errors, and output to a file", jobs("-u -j1", `drawn; printf "error-{} " >&2; a_while; echo {}`, "1 2") + " > out", 80, true, "error-1 error-2"},
		{"dots that stream", jobs("", `drawn; sleep 1.2; for i in 1 2 3 4; do printf .; a_while; done; : {}`, "a"), 80, true, "...."},
		{"lines", jobs("-j1", "drawn; echo {}; a_while", "a b"), 80, true, "a\nb\nLINE\n"},
		{"--line-buffer", jobs("--line-buffer -j1", "drawn; echo {}; a_while; echo end", "a b"), 80, true, "a\nend\nb\nend\nLINE\n"},
		{"--tag", jobs("--tag -j1", "drawn; echo {}; a_while; printf end", "a b"), 80, true, "a\ta\na\tendb\tb\nb\tend"},
		{"colours, wide characters", jobs("-j1", `drawn; printf "\033[31m{}\033[0m日本"; a_while`, "a b"), 80, true, "a日本b日本"},
		{"a narrow terminal", jobs("-j1", `drawn; printf "answer-{} "; a_while; echo`, "1 2"), 12, true, "answer-1\nanswer-2\nLINE\n"},
		{"text before it", "printf 'building... '; " + jobs("", `drawn; echo {}`, "a"), 80, true, "building...\na\nLINE\n"},
		{"--ungroup", jobs("--ungroup -j1", `for i in 1 2; do printf "{}$i "; a_while; done`, "a b"), 80, false, "a1 a2 b1 b2"},
		{"a pipe to the terminal", jobs("", "a_while; echo {}", "a b") + " | cat", 80, false, "a\nb\n"},
		{"a job log on the terminal", jobs("--joblog /dev/stderr", "a_while; : {}", "a") + " 2> >(cut -f 1)", 80, false, "Seq\n1\n"},
		{"in the background", "set -m; " + jobs("", "a_while; echo {}", "a") + " & exec 2> messages; printf prompt; wait $!", 80, false, "prompta\n"},
		{"typed items", "stint run --quiet -s 'sleep 0.35; echo {}'", 80, false, "typed\ntyped\n"},
		{"a pipe from what writes to the terminal", `(for i in 1 2 3; do echo $i; a_while; printf "no $i? " >&2; a_while; done; all_done) | stint run -j1 --joblog log -s "sleep 0.3; : {}"`, 80, false, "no 1? no 2? no 3?"},
		{"a pipe that has ended", "echo a | " + strings.TrimSuffix(jobs("", "drawn; echo {}", ""), "::: "), 80, true, "a\nLINE\n"},
		{"advise", "stint advise --budget 1 -s '" + prelude + "drawn; : {}' ::: a b > out", 80, true, ""},
		{"sum", "(a_while; echo a) | stint sum -a md5 -", 80, false, "60b725f10c9c85c70d97880dfe8191b3  -\n"},
		{"sum, to the terminal by name", "mkfifo p; (drawn; echo a) > p & stint sum -a md5 b p -o /dev/tty", 80, true, "3b5d5c3712955042212316173ccf37be  b\n60b725f10c9c85c70d97880dfe8191b3  p\nLINE\n"},
	} {
		t.Run(test.what, func(t *testing.T) {
			t.Parallel()
			typed := ""
			if test.what == "typed items" {
				typed = "typed\n\x04"
			}
			got, isDrawn := onTerminal(t, test.columns, prelude+test.script, typed)
			got = lastLine.ReplaceAllString(got, "LINE\n")
			if isDrawn != test.isDrawn || got != test.want {
				t.Errorf("a progress line: %v, want %v; the screen shows\n%s\nwant\n%s", isDrawn, test.isDrawn, got, test.want)
			}
		})
	}
}

// TestTerminalAlike wants the same screen with a progress line and without one, on terminals of
// several widths.
func TestTerminalAlike(t *testing.T) {
	t.Parallel()
	const script = `stint run -j3 -s 'n={}; sleep 0.2; while [ $n -gt 0 ]; do printf "%s" $n; [ $((n % 3)) -gt 0 ] || sleep 0.1; [ $((n % 5)) -gt 0 ] || echo; n=$((n - 1)); done' ::: 10 1 15 3 12 20`
	for _, columns := range []int{1, 13, 80} {
		with, _ := onTerminal(t, columns, script, "")
		without, _ := onTerminal(t, columns, strings.Replace(script, "run", "run --progress never", 1), "")
		if with != without {
			t.Errorf("%d columns: the screen shows\n%s\nwant\n%s", columns, with, without)
		}
	}
}

// progressLine is a part of the progress line of each command.
var progressLine = regexp.MustCompile(" jobs?, | files?, | Ctrl-C for the answer so far")

// lastLine is what stays of it, or the beginning of that.
var lastLine = regexp.MustCompile(`(?m)^\d+ (job|file)s?,? .*\n\z`)

// onTerminal runs a script of bash on a terminal of its own, and returns what its screen shows in the
// end, and whether there was a progress line. The file "drawn" appears with the line.
func onTerminal(t *testing.T, columns int, script, typed string) (shown string, isDrawn bool) {
	t.Helper()
	dir := t.TempDir()
	testfiles.Write(t, filepath.Join(dir, "b"), "b\n")
	master, terminal := testterm.Open(t, columns)
	_, err := io.WriteString(master, typed) // the terminal echoes it
	must(t, err)
	cmd := exec.Command("bash", "-c", script)
	cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr = dir, terminal, terminal, terminal
	cmd.Env = append(os.Environ(), "TERM=xterm", "STINT_SHELL=bash", "GORACE=atexit_sleep_ms=0")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	must(t, cmd.Start())
	terminal.Close()
	guard := time.AfterFunc(patience, func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) })
	defer guard.Stop()
	screen := &testterm.Screen{Columns: columns}
	var raw strings.Builder
	for b := make([]byte, 4096); ; {
		n, err := master.Read(b)
		_, _ = screen.Write(b[:n])
		raw.Write(b[:n])
		if !isDrawn && progressLine.MatchString(raw.String()) {
			isDrawn = true
			testfiles.Write(t, filepath.Join(dir, "drawn"), "")
		}
		if errors.Is(err, io.EOF) || errors.Is(err, syscall.EIO) { // all have closed it
			break
		}
		must(t, err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("%v; all that was written: %q", err, raw.String())
	}
	return screen.String(), isDrawn
}
