package joblog

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// file returns the name of a new file with this text.
func file(t testing.TB, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "log")
	must(t, os.WriteFile(name, []byte(text), 0o666))
	return name
}

func content(t testing.TB, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	must(t, err)
	return string(text)
}

var entry = Entry{Seq: 3, Start: time.UnixMilli(1795532839444), Runtime: 3 * time.Millisecond, Command: "a"}

const entryLine = "3\t:\t1795532839.444\t     0.003\t0\t0\t0\t0\ta\n"

// TestOpen appends a line to what a file may have.
func TestOpen(t *testing.T) {
	for _, c := range []struct{ name, before, created, opened string }{
		{"empty", "", header + "\n", header + "\n"},
		{"a part of the header", header[:9], header + "\n", header + "\n"},
		{"header without newline", header, header + "\n", header + "\n"},
		{"lines", header + "\n" + job(1, "ok", "b"), header + "\n", header + "\n" + job(1, "ok", "b")},
		{"partial line", header + "\n1\t:", header + "\n", header + "\n1\t:" + tornMark + "\n"},
	} {
		test := func(open func(string) (*Log, error), want string) {
			t.Helper()
			name := file(t, c.before)
			l, err := open(name)
			must(t, err)
			must(t, l.Append(entry))
			must(t, l.Append(entry))
			must(t, l.Close())
			if got := content(t, name); got != want+entryLine+entryLine {
				t.Errorf("%s: got %q, want %q and two lines", c.name, got, want)
			}
		}
		test(Create, c.created)
		test(Open, c.opened)
	}
}

func TestOpenErrors(t *testing.T) {
	dir := t.TempDir()
	for _, open := range []func(string) (*Log, error){Create, Open} {
		for _, text := range []string{"precious\n", "precious", "\n", header + "\r\n", header + " and more"} {
			name := file(t, text)
			if _, err := open(name); err == nil || !strings.Contains(err.Error(), name+":1: not a job log") {
				t.Errorf("%q: %v", text, err)
			}
			if got := content(t, name); got != text {
				t.Errorf("%q is now %q", text, got)
			}
		}
		for _, name := range []string{dir, filepath.Join(dir, "no", "log"), "x\x00"} {
			if _, err := open(name); err == nil {
				t.Errorf("%q: no error", name)
			}
		}
	}
}

// shortWriter writes some bytes, as a full disk does, and then all.
type shortWriter struct {
	strings.Builder
	room []int // what the next writes can write
}

var errFull = errors.New("full")

func (w *shortWriter) Write(p []byte) (int, error) {
	if len(w.room) == 0 || w.room[0] >= len(p) {
		w.room = w.room[min(1, len(w.room)):]
		return w.Builder.Write(p)
	}
	n, _ := w.Builder.Write(p[:w.room[0]])
	w.room = w.room[1:]
	return n, errFull
}

func (w *shortWriter) Close() error { return nil }

// TestAppendAfterAnError lets up to three writes be short, at every byte of a line.
func TestAppendAfterAnError(t *testing.T) {
	all := len(tornMark + "\n" + entryLine)
	for i := range all {
		w := &shortWriter{room: []int{i, all - i, 0}}
		w.WriteString(header + "\n")
		l := &Log{file: w}
		written := 0
		for range 5 {
			if err := l.Append(entry); err == nil {
				written++
			} else if err != errFull {
				t.Fatal(err)
			}
		}
		d, err := read(strings.NewReader(w.String()), "log", true)
		must(t, err)
		if got := takes(d, "a")[0]; got != written || written < 2 {
			t.Errorf("%d bytes at first: %d jobs are done, %d were written: %q", i, got, written, w.String())
		}
	}
}
