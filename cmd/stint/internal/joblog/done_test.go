package joblog

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// job returns a line of a log.
func job(seq int, status, command string) string {
	exit := map[string]string{"ok": "0\t0", "failed": "1\t0", "killed": "0\t9"}[status]
	return fmt.Sprintf("%d\t:\t1795532839.444\t     0.003\t0\t0\t%s\t%s\n", seq, exit, command)
}

// takes returns how often each command can be taken.
func takes(d Done, commands ...string) (n []int) {
	for _, c := range commands {
		n = append(n, 0)
		for d.Take(c) {
			n[len(n)-1]++
		}
	}
	return n
}

var doneCases = []struct {
	name, text string
	all, ok    string // how often "a" and "b c" are done: all jobs, and those that succeeded
}{
	{"empty", "", "[0 0]", "[0 0]"},
	{"a part of the header", header[:20], "[0 0]", "[0 0]"},
	{"header without newline", header, "[0 0]", "[0 0]"},
	{"two", header + "\n" + job(1, "ok", "a") + job(2, "ok", "b c"), "[1 1]", "[1 1]"},
	{"failed", header + "\n" + job(1, "failed", "a") + job(2, "killed", "b c"), "[1 1]", "[0 0]"},
	// "a" and "a" ran, one failed, and ran again with retryFailed: two jobs are done.
	{"failed, then ran again", header + "\n" + job(1, "ok", "a") + job(2, "failed", "a") + job(2, "ok", "a"), "[3 0]", "[2 0]"},
	{"partial last line", header + "\n" + job(1, "ok", "a") + strings.TrimSuffix(job(2, "ok", "b c"), "\n"), "[1 0]", "[1 0]"},
	{"torn lines", header + "\n1" + tornMark + "\n" + job(1, "ok", "a"+tornMark) + job(1, "ok", "a"), "[1 0]", "[1 0]"},
	{"torn twice, and a line between", header + "\n1" + tornMark + "\n\n" + tornMark + "\n" + job(1, "ok", "a"), "[1 0]", "[1 0]"},
}

func TestRead(t *testing.T) {
	for _, c := range doneCases {
		for retryFailed, want := range map[bool]string{false: c.all, true: c.ok} {
			d, err := read(strings.NewReader(c.text), "log", retryFailed)
			if err != nil {
				t.Errorf("%s: %v", c.name, err)
				continue
			}
			if got := fmt.Sprint(takes(d, "a", "b c")); got != want || d.Take("a") || d.Take("no such") {
				t.Errorf("%s, retryFailed %v: done %v, want %v", c.name, retryFailed, got, want)
			}
		}
	}
}

func TestReadErrors(t *testing.T) {
	for text, want := range map[string]string{
		"hello\n":       `log:1: not a job log: the first line is not "Seq\tHost`,
		"\n":            "log:1: not a job log",
		header + "x\n":  "log:1: not a job log",
		header + "\r\n": "log:1: not a job log",
		header + "\n" + job(1, "ok", "a") + "x\n": "log:3: not a line of a job log: 1 of 9 columns",
		header + "\nx\n2":                         "log:2: not a line of a job log",
	} {
		if _, err := read(strings.NewReader(text), "log", false); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.80q: %v, want %s", text, err, want)
		}
	}
}

func TestReadFile(t *testing.T) {
	dir := t.TempDir()
	if d, err := Read(filepath.Join(dir, "missing"), false); err != nil || d.Take("a") {
		t.Errorf("no file: %v", err)
	}
	for _, name := range []string{dir, os.DevNull} {
		if _, err := Read(name, false); err == nil || !strings.Contains(err.Error(), "not a regular file") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Read(filepath.Join(dir, "x\x00"), false); err == nil {
		t.Error("no error for a name that cannot be")
	}
}

// FuzzRead reads a log that may be anything. If it can be read, a line that is appended to it
// counts, and nothing else changes.
func FuzzRead(f *testing.F) {
	for _, c := range doneCases {
		f.Add(c.text, "a")
	}
	f.Add(header+"\n"+strings.TrimSuffix(job(1, "ok", "echo 12"), "2\n"), "echo 1")
	f.Add(header+"\r\n", "")
	f.Fuzz(func(t *testing.T, text, command string) {
		if strings.HasSuffix(logged(command), tornMark) {
			return
		}
		name := filepath.Join(t.TempDir(), "log")
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		before, err := Read(name, true)
		l, openErr := Open(name)
		if openErr == nil {
			defer l.Close()
		}
		if err != nil {
			return
		}
		if openErr != nil {
			t.Fatalf("can be read, but not opened: %v", openErr)
		}
		if err := l.Append(Entry{Command: command}); err != nil {
			t.Fatal(err)
		}
		after, err := Read(name, true)
		if err != nil {
			t.Fatal(err)
		}
		if !after.Take(command) || !maps.Equal(before, positive(after)) {
			t.Errorf("done before %v, after without the new line %v", before, after)
		}
	})
}

func positive(d Done) Done {
	maps.DeleteFunc(d, func(_ key, n uint32) bool { return n == 0 })
	return d
}
