package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/stint-go/stint"
	"github.com/stint-go/stint/cluster"
	"github.com/stint-go/stint/cmd/stint/internal/console"
)

// needsShell makes jobs use sh, or skips the test if there is none.
func needsShell(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skipf("no shell here: %v", err)
	}
	t.Setenv("STINT_SHELL", "sh")
}

// host returns the name of this machine, as workers have it.
func host(t *testing.T) string {
	t.Helper()
	name, err := os.Hostname()
	must(t, err)
	return name
}

// runsOf returns the arguments of a run on the workers of the server at url.
func runsOf(url string, args ...string) []string {
	return append([]string{"run", "--cluster", url}, args...)
}

// printed is what a run prints, and its exit status.
type printed struct {
	out, errs string
	status    int
}

// runIn runs args with jobs that run in a directory of their own, DIR in args and in what is
// printed.
func runIn(t *testing.T, stdin string, args ...string) printed {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"list": "a\nb c\n\nd", "blank": "\n x \n", "dir/file.txt": "x\n"} {
		must(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o777))
		must(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666))
	}
	args = slices.Clone(args)
	for i := range args {
		args[i] = strings.ReplaceAll(args[i], "DIR", dir)
	}
	out, errs, status := runStint(t, stdin, args...)
	p := printed{strings.ReplaceAll(out, dir, "DIR"), strings.ReplaceAll(errs, dir, "DIR"), status}
	if slices.Contains(args, "--json") {
		p.out = timeless(t, p.out)
	}
	if slices.Contains(args, "-u") {
		p.out = sortedLines(p.out)
	}
	p.errs = afterSeconds.ReplaceAllString(p.errs, "timed out")
	p.errs = strings.ReplaceAll(p.errs, "on "+host(t)+": ", "")
	return p
}

// afterSeconds is in the message about a job that has timed out.
var afterSeconds = regexp.MustCompile(`timed out after [0-9.]+m?s`)

func sortedLines(s string) string {
	lines := strings.SplitAfter(s, "\n")
	slices.Sort(lines)
	return strings.Join(lines, "")
}

// timeless returns the output of --json without what differs from run to run.
func timeless(t *testing.T, out string) string {
	t.Helper()
	var b strings.Builder
	for line := range strings.Lines(out) {
		var object map[string]any
		if err := json.Unmarshal([]byte(line), &object); err != nil {
			t.Fatalf("%q is no object: %v", line, err)
		}
		for _, name := range []string{"host", "start", "time", "cpu", "concurrency"} {
			delete(object, name)
		}
		if text, ok := object["error"].(string); ok {
			object["error"] = strings.ReplaceAll(afterSeconds.ReplaceAllString(text, "timed out"), "on "+host(t)+": ", "")
		}
		rest, err := json.Marshal(object)
		must(t, err)
		b.Write(append(rest, '\n'))
	}
	return b.String()
}

// sameRun runs a command line with and without workers, and wants no difference.
func sameRun(t *testing.T, url, stdin string, args ...string) {
	t.Helper()
	args = append([]string{"--cwd", "DIR"}, args...)
	want, got := runIn(t, stdin, append([]string{"run"}, args...)...), runIn(t, stdin, runsOf(url, args...)...)
	if got.out != want.out {
		t.Errorf("%q: output %s", args, difference(got.out, want.out))
	}
	if got.errs != want.errs || got.status != want.status {
		t.Errorf("%q: exit status %d, messages:\n%swant %d:\n%s", args, got.status, got.errs, want.status, want.errs)
	}
}

// A commandLine is arguments of "stint run", and its standard input.
type commandLine struct {
	stdin string
	args  []string
}

// odd is no UTF-8, and changes a terminal.
const odd = "a\xff\xed\xa0\x80b\x1b[31mtwo\nlines\ufffd"

// commandLines are those that are compared. Their jobs run in any order.
func commandLines() []commandLine {
	line := func(args ...string) commandLine { return commandLine{"", args} }
	input := func(stdin string, args ...string) commandLine { return commandLine{stdin, args} }
	return []commandLine{
		line("echo", ":::", "a", "b c", "", "$d", "*", "-n", "\xff"), line("echo", "{}-{.}-{/}-{//}-{/.}-{#}", ":::", "x/y.z", "/a.b/c", "d"),
		line("echo", "{2}{1}{2.}", ":::", "a", "b", ":::", "1.x", "2.y"), line("echo", ":::", "a", "b", ":::", "c", "d", ":::", "e"),
		line("-I", odd, "printf", "%s|", "x"+odd+"y", ":::", "a"), line("printf", "%s|", odd, ":::", odd), line("--tag", "echo", ":::", odd),
		line("-s", `printf %s "$1" >&2; exit 3`, ":::", odd), line("--json", "printf", "%s", ":::", odd),
		line("-n", "2", "echo", "x{}y", ":::", "a", "b", "c"), line("-X", "echo", ":::", "a", "b", "c"), line("-I", "_", "echo", "{}_", ":::", "a"),
		line("-s", `echo "$1" {2} $#`, ":::", "a b", "c", ":::", "d"), line("-s", "printf '{}\\n'; pwd", ":::", "a'b", "$HOME"),
		line(":::", "echo a | tr a b", "exit 3", "cat dir/file.txt"), line("-a", "DIR/list", "echo"), line("-a", "DIR/list", "-a", "DIR/blank", "echo", "{1}{2}"),
		line("-a", "DIR/blank", "--trim", "echo"), line("-a", "DIR/missing", "echo"), line("-a", "DIR/list", "-a", "DIR/missing", "echo"), line("-a", "DIR/dir", "echo"),
		input("a\x00b\nc\x00", "-0", "echo"), input("a,b,c", "-d", ",", "echo"), input("a, b\nc, d\n", "--colsep", ",", "echo", "{2}{1}"),
		input("", "echo"), line("echo", ":::"), line("-s", "echo", ":::", "a", ":::"), input("", "--pipe", "cat"), line("--json", "echo", ":::"),
		line("--tag", "-s", "echo a; echo b >&2; printf c", ":::", "x y", "z"), line("-n", "2", "--tag", "echo", ":::", "a", "b", "c"),
		line("-u", "-s", "echo {}; echo {}{}", ":::", "a", "b", "c"), line("-u", "--tag", "echo", ":::", "a", "b", "c"),
		line("--json", "-s", "echo {}; echo e >&2; exit {}", ":::", "0", "3", "255"), line("--json", "-s", "printf '\\377\\0'; kill -9 $$", ":::", "a", "\xff"),
		line("--json", "-n", "2", "echo", ":::", "a", "b", "c"), line("--json", "--timeout", "0.5", "sleep", ":::", "60", "0"),
		input(lines(1, 5000), "--pipe", "--block", "4k", "cat"), input(lines(1, 5000), "--pipe", "--block", "4k", "-s", "wc -c; echo {#}"),
		input(strings.Repeat("x", 10_000)+"\ny", "--pipe", "--block", "1k", "wc", "-c"), input(lines(1, 100_000), "--pipe", "--block", "600k", "md5sum"),
		line("--timeout", "0.5", "-s", "echo {}; sleep {}", ":::", "60", "0", "61"), line("--timeout", "0.2", "-s", "trap '' TERM; sleep 60 & wait; wait", ":::", "a"),
		line("--retries", "2", "-s", "echo {} >> n{}; cat n{}; [ $(wc -l < n{}) -gt {} ]", ":::", "0", "1", "2", "3"),
		line("--quiet", "--retry-delay", "1ms", "-s", "echo {} >> n{}; [ $(wc -l < n{}) -gt 2 ] || exit 75; cat n{}", ":::", "a", "b"),
		line("false", ":::", "a"), line("false", ":::", "a", "b"), line("-s", "exit {}", ":::", "0", "1", "2", "126", "127", "255"), line("--quiet", "false", ":::", "a"),
		line("-s", "kill -{} $$", ":::", "15", "9", "1"), line("{}", "x", ":::", "echo", "nonesuch", "./list", "dir/none", "false"),
		line("-s", "head -c 100000 /dev/urandom > r{}; cat r{} | wc -c; printf '\\0\\377\\n\\r'", ":::", "a", "b"), line("-s", "echo {} >&2", ":::", "a", "b"),
		line("-s", "printf {}; printf e{} >&2", ":::", "a", "b"), line("-s", "head -c 300000 /dev/zero; echo {}", ":::", "a", "b"), line("--tag", "seq", ":::", "30000", "2"),
		line("-s", "read x; echo $? $x", ":::", "a"), input(strings.Repeat("x", 200_000)+"\ny\n", "--quiet", "-s", "echo ${#1}"), line("--dry-run", "echo", ":::", "a"),
		line("-s", "cat <&0; ( sleep 0.1; echo {} ) &", ":::", "a", "b"), line("--halt", "soon,fail=9", "echo", ":::", "a", "b"),
	}
}

// lines returns numbers, a line each.
func lines(from, to int) string {
	var b []byte
	for i := from; i <= to; i++ {
		b = append(strconv.AppendInt(b, int64(i), 10), '\n')
	}
	return string(b)
}

// TestRunOnCluster compares two workers with this process.
func TestRunOnCluster(t *testing.T) {
	needsShell(t)
	url, _ := serve(t)
	worker(t, "--cluster", url, "--run", "-j", "2")
	worker(t, "--cluster", url, "--run")
	err := stint.Each(t.Context(), commandLines(), func(_ context.Context, c commandLine) error {
		sameRun(t, url, c.stdin, c.args...)
		return nil
	}, stint.Limit(8))
	must(t, err)
	left(t, url)
}

// A run that is cancelled ends, although its input goes on, or it waits for that.
func TestCancelOfARunWithoutAnEnd(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		args  string
		input string
	}{
		{"echo", strings.Repeat("x\n", 1<<20)}, {"-n 2 echo", strings.Repeat("x\n", 1<<20)}, {"--pipe cat", strings.Repeat("x\n", 1<<20)},
		{"--halt soon -j 2 echo", strings.Repeat("x\n", 1<<20)}, {"echo", "a\nb"}, {"--pipe --block 1 cat", "a\nb"},
	} {
		url, _ := serve(t)
		r, w, err := os.Pipe()
		must(t, err)
		var errs strings.Builder
		ended := make(chan int, 1)
		go func() {
			ended <- execute(t.Context(), runsOf(url, strings.Fields(test.args)...), console.Streams{Stdin: r, Stdout: io.Discard, Stderr: &errs})
		}()
		go func() { _, _ = io.WriteString(w, test.input) }() // and does not close it
		until(t, url, "there is a run that waits", func(s *cluster.Status) bool { return len(s.Runs) == 1 && s.Runs[0].Waiting > 0 })
		run := state(t, url).Runs[0].Run
		wantRun(t, 0, "", "", "cancel", run, "--cluster", url)
		if status, want := <-ended, run+" was cancelled elsewhere"; status != 1 || !strings.Contains(errs.String(), want) {
			t.Errorf("%q ended with status %d, messages %q, want 1 and %q", test.args, status, &errs, want)
		}
		r.Close()
		w.Close()
		left(t, url)
	}
}

// left wants that runs have left nothing at the server, once the workers know of their end.
func left(t *testing.T, url string) {
	t.Helper()
	leftWithin(t, url, cleanup)
}

// leftWithin is left with how long that may take.
func leftWithin(t *testing.T, url string, most time.Duration) {
	t.Helper()
	js, err := jetstream.New(connect(t, url))
	must(t, err)
	for end := time.Now().Add(most); ; time.Sleep(20 * time.Millisecond) {
		found := remains(t, js)
		if found == "" {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("left at the server: %s", found)
		}
	}
}

// remains describes the messages and consumers of runs at a server. The consumers of the names
// of tasks stay, and the stream of Status has a message for a second.
func remains(t *testing.T, js jetstream.JetStream) string {
	t.Helper()
	var found []string
	streams := js.ListStreams(t.Context())
	for s := range streams.Info() {
		consumers := s.State.Consumers
		if s.Config.Name == "stint-tasks" {
			consumers = 0
		}
		if s.Config.Name != "stint-health" && s.State.Msgs+uint64(consumers) > 0 {
			found = append(found, fmt.Sprintf("%d messages and %d consumers in %s", s.State.Msgs, consumers, s.Config.Name))
		}
	}
	must(t, streams.Err())
	return strings.Join(found, ", ")
}
