package main

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestProgressLine(t *testing.T) {
	for _, test := range []struct {
		done    amount
		total   *amount
		elapsed time.Duration
		want    string
	}{
		{amount{}, nil, 0, "0 files, 0 B, 0 B/s"},
		{amount{12, 5000}, nil, 2 * time.Second, "12 files, 5.0 kB, 2.5 kB/s"},
		{amount{12, 250e6}, &amount{48, 1e9}, time.Second, "12/48 files, 250 MB of 1.0 GB, 250 MB/s, 3s left"},
		{amount{0, 0}, &amount{48, 1e9}, time.Second, "0/48 files, 0 B of 1.0 GB, 0 B/s"},
		{amount{48, 1e9}, &amount{48, 1e9}, time.Second, "48/48 files, 1.0 GB of 1.0 GB, 1.0 GB/s"},
		{amount{1, 1e6}, &amount{2, 501e6}, time.Second, "1/2 files, 1.0 MB of 501 MB, 1.0 MB/s, 8m20s left"},
		{amount{1, 1e6}, &amount{2, 9e9}, time.Second, "1/2 files, 1.0 MB of 9.0 GB, 1.0 MB/s, 2h29m left"},
	} {
		if got := progressLine(test.done, test.total, test.elapsed); got != test.want {
			t.Errorf("progressLine(%v, %v, %v) = %q, want %q", test.done, test.total, test.elapsed, got, test.want)
		}
	}
}

func TestSizes(t *testing.T) {
	for n, want := range map[float64]string{
		0: "0 B", 999: "999 B", 999.4: "999 B", 1000: "1.0 kB", 99_940: "99.9 kB", 99_960: "100 kB", 999_499: "999 kB", 999_500: "1.0 MB", 2e9: "2.0 GB", 3e21: "3000 EB",
	} {
		if got := size(n); got != want {
			t.Errorf("size(%v) = %q, want %q", n, got, want)
		}
	}
}

// screen shows what is on a terminal's line after all that was written to it.
func screen(written string) string {
	line, at := []rune{}, 0
	for _, r := range written {
		switch {
		case r == '\r':
			at = 0
		case r == '\n':
			line, at = nil, 0
		case at == len(line):
			line = append(line, r)
			at++
		default:
			line[at] = r
			at++
		}
	}
	return strings.TrimRight(string(line), " ")
}

// TestProgressOnTerminal watches the line come, shrink, make room for a message
// and go.
func TestProgressOnTerminal(t *testing.T) {
	var b strings.Builder
	c := &console{w: &b}
	want := func(line string) {
		t.Helper()
		if got := screen(b.String()); got != line {
			t.Errorf("the terminal shows %q, want %q", got, line)
		}
	}
	c.show("a long line")
	want("a long line")
	c.show("short")
	want("short")
	c.message("trouble")
	want("")
	if !strings.Contains(b.String(), "\rstint: trouble\n") {
		t.Errorf("%q has no message on a line of its own", &b)
	}
	c.show("again")
	c.hide()
	want("")
	if strings.Contains(b.String(), "\x1b") {
		t.Errorf("%q has an escape sequence", &b)
	}
}

// TestProgressPace counts the lines of three and a half seconds.
func TestProgressPace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b strings.Builder
		c := &console{w: &b}
		ctx, cancel := context.WithTimeout(t.Context(), 3500*time.Millisecond)
		defer cancel()
		n := 0
		c.follow(ctx, false, func() string { n++; return "line" })
		if want := strings.Repeat("line\n", 4); b.String() != want || n != 4 {
			t.Errorf("wrote %q, want three lines and a last one", &b)
		}
		b.Reset()
		ctx, cancel = context.WithTimeout(t.Context(), 350*time.Millisecond)
		defer cancel()
		c.follow(ctx, true, func() string { return strings.Repeat("x", 100) })
		if got := strings.Count(b.String(), strings.Repeat("x", 79)); got != 3 || strings.Contains(b.String(), strings.Repeat("x", 80)) {
			t.Errorf("wrote %q, want three times 79 columns", &b)
		}
	})
}
