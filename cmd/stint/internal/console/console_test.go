package console

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

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
	c := New(&b)
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
	c.Message("trouble")
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
		c := New(&b)
		ctx, cancel := context.WithTimeout(t.Context(), 3500*time.Millisecond)
		defer cancel()
		n := 0
		c.Follow(ctx, false, func() string { n++; return "line" })
		if want := strings.Repeat("line\n", 4); b.String() != want || n != 4 {
			t.Errorf("wrote %q, want three lines and a last one", &b)
		}
		b.Reset()
		ctx, cancel = context.WithTimeout(t.Context(), 350*time.Millisecond)
		defer cancel()
		c.Follow(ctx, true, func() string { return strings.Repeat("x", 100) })
		if got := strings.Count(b.String(), strings.Repeat("x", 79)); got != 3 || strings.Contains(b.String(), strings.Repeat("x", 80)) {
			t.Errorf("wrote %q, want three times 79 columns", &b)
		}
	})
}

func TestBytes(t *testing.T) {
	for n, want := range map[float64]string{
		0: "0 B", 999: "999 B", 999.4: "999 B", 1000: "1.0 kB", 99_940: "99.9 kB", 99_960: "100 kB", 999_499: "999 kB", 999_500: "1.0 MB", 2e9: "2.0 GB", 3e21: "3000 EB",
	} {
		if got := Bytes(n); got != want {
			t.Errorf("Bytes(%v) = %q, want %q", n, got, want)
		}
	}
}
