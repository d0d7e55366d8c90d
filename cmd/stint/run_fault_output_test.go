//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stint-go/stint/cmd/stint/internal/testfiles"
)

// TestRunJobClosesOutput runs jobs that close their output and go on.
func TestRunJobClosesOutput(t *testing.T) {
	t.Parallel()
	for _, flag := range []string{"--tag=false", "--unordered", "--line-buffer", "--ungroup"} {
		p := newFaultRun(t, flag, "-j", "1", "-s", `echo out; exec >&-; echo err >&2; exec 2>&-; sleep 0.1; echo >>ended; exit $1`, ":::", "3").start()
		p.want(1, "out\n", "err\nstint: 1 job of 1 failed: job 1, exit status 3: ")
		if len(p.lines("ended")) != 1 {
			t.Errorf("%s: the job did not go on", flag)
		}
	}
}

// everyByte has each byte after each other one, and each at both ends of a line.
func everyByte() string {
	var b []byte
	for x := range 256 {
		for y := range 256 {
			b = append(b, byte(x), byte(y))
		}
	}
	for x := range 256 {
		b = append(b, byte(x), '\n', byte(x))
	}
	return string(b)
}

// TestRunBinary wants every byte of both outputs of jobs.
func TestRunBinary(t *testing.T) {
	t.Parallel()
	want := everyByte()
	for _, flag := range []string{"--tag=false", "--unordered", "--line-buffer", "--ungroup", "--results=results", "--retries=1"} {
		p := newFaultRun(t, flag, "-j", "2", "-s", "cat bytes; cat bytes >&2; : $1", ":::", "1", "2")
		p.write("bytes", want)
		if flag == "--ungroup" || flag == "--line-buffer" { // the output of jobs mixes
			p.Args[4] = "1"
		}
		p.start().want(0, want+want, want)
		if got := p.errs.String(); got != want+want {
			t.Errorf("%s: standard error %s", flag, difference(got, want+want))
		}
		for _, name := range []string{"1/stdout", "1/stderr", "2/stdout", "2/stderr"} {
			if got, err := os.ReadFile(filepath.Join(p.Dir, "results", name)); flag == "--results=results" && string(got) != want {
				t.Errorf("%s: %v, %s", name, err, difference(string(got), want))
			}
		}
	}
}

// TestRunBinaryJSON wants the same of --json, and of items.
func TestRunBinaryJSON(t *testing.T) {
	t.Parallel()
	want := everyByte()
	item := "\xff\xfe\n\"'\\ \x01é"
	p := newFaultRun(t, "--json", "-0", "-s", "cat bytes; cat bytes >&2; : $1")
	p.write("bytes", want)
	p.Stdin = strings.NewReader(item)
	p.start().end()
	line, _, _ := strings.Cut(p.out.String(), "\n")
	var got struct {
		Items  [][]byte `json:"items_base64"`
		Stdout []byte   `json:"stdout_base64"`
		Stderr []byte   `json:"stderr_base64"`
	}
	if err := json.Unmarshal([]byte(line), &got); err != nil || len(got.Items) != 1 || string(got.Items[0]) != item {
		t.Errorf("%v, items %q, want %q", err, got.Items, item)
	}
	for name, b := range map[string][]byte{"stdout": got.Stdout, "stderr": got.Stderr} {
		if string(b) != want {
			t.Errorf("%s %s", name, difference(string(b), want))
		}
	}
	p.wantMessage("")
}

// TestRunJobReadsStdin wants that jobs read nothing, though items come from the same input.
func TestRunJobReadsStdin(t *testing.T) {
	t.Parallel()
	for _, flag := range []string{"--tag=false", "--ungroup", "--json=false"} {
		p := newFaultRun(t, flag, "-j", "1", "-s", "cat; echo end $1")
		in, err := p.StdinPipe()
		must(t, err)
		p.start()
		_, err = io.WriteString(in, "1\n2\n3\n")
		must(t, err)
		in.Close()
		p.want(0, "end 1\nend 2\nend 3\n", "")
	}
	p := newFaultRun(t, "-s", "cat; echo end $1", ":::", "1")
	in, err := p.StdinPipe() // nothing ever comes
	must(t, err)
	defer in.Close()
	p.start().want(0, "end 1\n", "")
}

// TestRunJobLeavesInput gives blocks to jobs that do not read them.
func TestRunJobLeavesInput(t *testing.T) {
	t.Parallel()
	for _, script := range []string{"echo x", "exec <&-; echo x", "head -c 1 >/dev/null; echo x", "sleep 1000 & echo x"} {
		p := newFaultRun(t, "--pipe", "--block", "1M", "-s", script)
		p.Stdin = bytes.NewReader(bytes.Repeat([]byte("0123456789abcde\n"), 4<<20/16))
		p.start().want(0, strings.Repeat("x\n", 4), "")
	}
}

// slowly is an output that is read slowly.
type slowly struct{}

func (slowly) Write(b []byte) (int, error) {
	time.Sleep(5 * time.Millisecond)
	return len(b), nil
}

// TestRunLeavesDaemonsAlone runs jobs that leave a process in a session of its own: the run
// ends, and it goes on.
func TestRunLeavesDaemonsAlone(t *testing.T) {
	t.Parallel()
	for _, redirected := range []string{"", ">/dev/null 2>&1 "} {
		p := newFaultRun(t, "-s", "setsid sleep 1000 "+redirected+"& echo $! >daemon; echo done $1", ":::", "1")
		p.daemons = true
		p.start().want(0, "done 1\n", "")
		if err := syscall.Kill(p.daemon(), syscall.SIGKILL); err != nil {
			t.Errorf("%q: the daemon: %v", redirected, err)
		}
	}
}

// TestRunDaemonFloods runs a job that leaves a daemon which writes and writes.
func TestRunDaemonFloods(t *testing.T) {
	t.Parallel()
	for _, flag := range []string{"--line-buffer", "--unordered"} {
		p := newFaultRun(t, flag, "-s", "setsid yes & echo $! >daemon; sleep 0.1; : $1", ":::", "1")
		p.daemons = true
		if p.Stdout = io.Discard; flag == "--line-buffer" {
			p.Stdout = slowly{}
		}
		p.start().end()
		p.wantMessage("")
		_ = syscall.Kill(p.daemon(), syscall.SIGKILL) // it may have gone on, or ended by SIGPIPE
	}
}

// daemon returns the number of the process that a job has left.
func (p *faultRun) daemon() (pid int) {
	p.t.Helper()
	_, err := fmt.Sscan(strings.Join(p.lines("daemon"), ""), &pid)
	must(p.t, err)
	return pid
}

// TestRunClosedStreams closes a standard stream of stint. Nobody sees what goes there. It cannot be
// told from a caller's /dev/null that is open for reading and writing, which is no error.
func TestRunClosedStreams(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ closed, args, out, errs string }{
		{"<&-", "echo ::: 1", "1\n", ""},
		{"<&-", "echo", "", ""},
		{"<&-", "--pipe cat", "", ""},
		{">&-", "echo ::: 1", "", ""},
		{">&-", "--ungroup echo ::: 1", "", ""},
		{"1<>/dev/null", "echo ::: 1", "", ""},
		{"2>&-", "ls ::: missing .", "log\n", ""},
		{"2>&-", "echo ::: 1", "1\n", ""},
		{"<&- >&- 2>&-", "echo ::: 1", "", ""},
		{"<&- >&- 2>&-", "--ungroup ls ::: missing", "", ""},
	} {
		p := newFaultRun(t, append([]string{"--joblog", "log"}, strings.Fields(test.args)...)...).within("sh", "-c", `exec "$@" `+test.closed, "sh")
		p.Stdin = os.Stdin
		status := 0
		if strings.Contains(test.args, "missing") {
			status = 1
		}
		p.start().want(status, test.out, test.errs)
		if log := p.lines("log"); len(log) == 0 || !strings.HasPrefix(log[0], "Seq\t") || len(log) < 2 && strings.Contains(test.args, ":::") {
			t.Errorf("%s %s: job log %q", test.closed, test.args, log)
		}
	}
}

// TestRunReaderLeaves closes the output after a line: the next write ends the run, also with
// jobs that last or ignore TERM.
func TestRunReaderLeaves(t *testing.T) {
	t.Parallel()
	const wait = `[ $1 = 1 ] || while [ ! -e gone ]; do sleep 0.02; done; `
	scripts := []string{wait + "echo $1", wait + "[ $1 -lt 4 ] || sleep 1000; echo $1", `trap "" TERM; ` + wait + "echo $1; [ $1 -lt 4 ] || sleep 1000", "yes $1"}
	var all []*faultRun
	for _, flag := range []string{"--tag", "--line-buffer", "--unordered", "--json", "--results=results"} {
		for _, script := range scripts {
			if script == "yes $1" && flag != "--tag" && flag != "--line-buffer" {
				continue // it would fill the disk
			}
			p := newFaultRun(t, append([]string{"-j", "4", flag, "-s", script, ":::"}, items1to(200)...)...)
			r, w, err := os.Pipe()
			must(t, err)
			p.Stdout = w
			all = append(all, p.start())
			w.Close()
			if n, err := r.Read(make([]byte, 1)); n != 1 {
				t.Errorf("%s %s: read nothing: %v", flag, script, err)
			}
			r.Close()
			p.write("gone", "")
		}
	}
	for _, p := range all {
		if p.end(); p.ProcessState.ExitCode() != 141 {
			t.Errorf("%.200q: exit status %d, want 141; messages %.500q", p.Args, p.ProcessState.ExitCode(), p.errs.String())
		}
	}
}

// TestRunJobsHaveDefaultSignals wants that jobs do not ignore signals that stint handles.
func TestRunJobsHaveDefaultSignals(t *testing.T) {
	t.Parallel()
	newFaultRun(t, "-s", "yes $1 | head -1", ":::", "1", "2").start().want(0, "1\n2\n", "")
	for _, name := range []string{"PIPE", "INT", "TERM", "HUP", "CHLD", "XFSZ"} {
		script := `sh -c 'kill -` + name + ` $$; echo went on'; echo $1 $?`
		p := newFaultRun(t, "-j", "1", "-s", script, ":::", "x").start().end()
		if got, want := strings.Contains(p.out.String(), "went on"), name == "CHLD"; got != want {
			t.Errorf("SIG%s: output %q", name, p.out.String())
		}
	}
}

// TestRunOutputIsFull writes to a full disk: the run ends with a message, whatever jobs do.
func TestRunOutputIsFull(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip(err)
	}
	for _, flag := range []string{"--tag", "--unordered", "--line-buffer", "--json"} {
		for _, script := range []string{"echo $1; [ $1 = 1 ] || sleep 1000", `trap "" TERM; echo $1; [ $1 = 1 ] || sleep 1000`} {
			full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
			must(t, err)
			defer full.Close()
			p := newFaultRun(t, append([]string{"-j", "2", flag, "-s", script, ":::"}, items1to(50)...)...)
			p.Stdout = full
			p.start().want(1, "", "stint: write error: No space left on device\n")
		}
	}
}

// TestRunOddItems gives items that are hard to quote to jobs, in each way.
func TestRunOddItems(t *testing.T) {
	t.Parallel()
	names := append(slices.Clone(testfiles.OddNames), "$(touch hurt)", "`touch hurt`", "; touch hurt;", "'; touch hurt; '", "\xff\xfe\n\xc3", "*", "?", "[a-z]", "~", "-", "{}")
	want := strings.Join(names, "\x00") + "\x00"
	for _, args := range [][]string{
		{"-0", "printf", `%s\0`},
		{"-0", "printf", `%s\0`, "{}"},
		{"-0", "-X", "printf", `%s\0`},
		{"-0", "-s", `printf "%s\0" "$1"`},
		{"-0", "-s", `printf '%s\0' {}`},
		{"-0", "-s", `printf '%s\0' '{}'`},
		{"-0", "-n", "3", "-s", `printf '%s\0' {}`},
		append([]string{"printf", `%s\0`, ":::"}, names...),
		append([]string{"-s", `printf '%s\0' "{}"`, ":::"}, names...),
	} {
		p := newFaultRun(t, args...)
		p.write("a", "") // what *, ? and [a-z] would find
		p.Stdin = strings.NewReader(want)
		p.start().want(0, want, "")
		if _, err := os.Stat(filepath.Join(p.Dir, "hurt")); err == nil {
			t.Errorf("%.200q: an item was run", args)
		}
	}
}

// TestLongMessages wants messages that fit on a screen, and the end of each, whatever has failed and
// however long its name is.
func TestLongMessages(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 100_000)
	var many strings.Builder
	for i := range 20_000 {
		fmt.Fprintln(&many, i)
	}
	for _, test := range []struct {
		args   []string
		status int
		want   string // at the end
	}{
		{[]string{"run", "-X", "-j", "1", "false"}, 1, ""},
		{[]string{"run", "-X", "-j", "1", "-s", "false {}"}, 1, ""},
		{[]string{"run", "-s", "false {} # " + long + " the end", ":::", "a"}, 1, " the end"},
		{[]string{"run", "--timeout", "0.1", "sh", "-c", "sleep 1000", ":::", long}, 1, "xxx"},
		{[]string{"run", long}, 127, ": command not found"},
		{[]string{"run", "{}", ":::", "/" + long}, 1, "xxx"},
		{[]string{"run", "--joblog", long, "echo"}, 1, "ile name too long"},
		{[]string{"run", "--" + long}, 2, " for more information."},
		{[]string{"sum", long}, 1, "ile name too long"},
		{[]string{long}, 2, " for more information."},
	} {
		p := newFaultRun(t)
		p.Args, p.Stdin = append(p.Args[:1], test.args...), strings.NewReader(many.String())
		p.start().end()
		text := strings.TrimSuffix(p.errs.String(), "\n")
		if got := p.ProcessState.ExitCode(); got != test.status || !strings.HasSuffix(text, test.want) || len(text) > 2000 || text == "" {
			t.Errorf("%.60q: exit status %d, want %d; messages of %d bytes %.1500q ... %q, want %q at the end", test.args, got, test.status, len(text), text, text[max(0, len(text)-50):], test.want)
		}
	}
}

// TestRunLastLine wants the end of a last line that has none, with --line-buffer and when the run
// has been halted.
func TestRunLastLine(t *testing.T) {
	t.Parallel()
	const script = `[ $1 = b ] || exec sleep 1000; printf partial; exit 3`
	for _, flag := range []string{"--line-buffer", "--tag=false"} {
		p := newFaultRun(t, flag, "-j", "2", "--halt", "now,fail=1", "-s", script, ":::", "a", "b").start()
		p.want(3, "partial", "1 job of 1 failed: job 2, exit status 3: ")
	}
}

// TestRunHaltsWithoutInput ends a run whose input goes on, but has nothing more now.
func TestRunHaltsWithoutInput(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"--halt", "soon", "false"}, {"--halt", "now", "false"}, {"--pipe", "--block", "1", "--halt", "soon", "false"}} {
		p := newFaultRun(t, args...)
		input, err := p.StdinPipe()
		must(t, err)
		p.start()
		_, err = io.WriteString(input, "a\nb")
		must(t, err)
		p.want(1, "", "1 job of 1 failed: job 1, exit status 1: false")
		input.Close()
	}
}

// TestRunShortJobs wants all output of jobs that end at about the time when it begins to be
// copied, with more than a pipe holds and with less.
func TestRunShortJobs(t *testing.T) {
	t.Parallel()
	var want strings.Builder
	var items []string
	for i := range 150 {
		items = append(items, fmt.Sprint(i*1400))
		want.WriteString(strings.Repeat("x", i*1400) + "\n")
	}
	p := newFaultRun(t, append([]string{"-s", `head -c $1 /dev/zero | tr '\0' x; echo`, ":::"}, items...)...).start()
	p.want(0, want.String(), "")
}
