package console

import (
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stint-go/stint/cmd/stint/internal/testterm"
)

// newTerminal returns a console and an output that write to one screen.
func newTerminal(s *testterm.Screen) (*Console, *Output) {
	c := New(s)
	c.columns = func() int { return s.Columns }
	o := NewOutput(s, c, func(error) {})
	o.isTerminal = true
	return c, o
}

// TestProgressErasesNothing writes at random, with a progress line and without one, and wants the
// same on both screens whenever the line is hidden.
func TestProgressErasesNothing(t *testing.T) {
	texts := []string{"", "\n", "a", "answer ", "line\n", "two\nlines\n", "50%\r", "\x1b[31mred\x1b[0m", "\x1b[1mbold\x1b[0m\n", "日本", "日本語\n", "\n\n.", strings.Repeat("long ", 30), strings.Repeat("日", 45) + "\n"}
	for seed := range uint64(2000) {
		rnd := rand.New(rand.NewPCG(seed, 0))
		columns := 1 + rnd.IntN(100)
		with, without := &testterm.Screen{Columns: columns}, &testterm.Screen{Columns: columns}
		c, o := newTerminal(with)
		plain, plainOut := newTerminal(without)
		var did []string
		for range 40 {
			text := texts[rnd.IntN(len(texts))]
			action := rnd.IntN(8)
			did = append(did, fmt.Sprintf("%d %.10q", action, text))
			switch action {
			case 0:
				_, _ = c.Write([]byte(text))
				_, _ = plain.Write([]byte(text))
			case 1, 2:
				_, _ = o.Write([]byte(text))
				_, _ = plainOut.Write([]byte(text))
				_, _ = o.Flush(), plainOut.Flush()
			case 3:
				c.Message(text)
				plain.Message(text)
			case 4:
				columns = 1 + rnd.IntN(100)
				with.Resize(columns)
				without.Resize(columns)
			default:
				c.show(fmt.Sprintf("%d jobs", seed) + strings.Repeat(" and", rnd.IntN(40)))
			}
			if c.line == progressLine { // a text of no bytes, or another width
				continue
			}
			if got, want := with.String(), without.String(); got != want {
				t.Fatalf("seed %d, %d columns: after %q the screen shows\n%s\nwant\n%s", seed, columns, did, got, want)
			}
		}
		c.leave("")
		if got, want := with.String(), without.String(); got != want {
			t.Fatalf("seed %d, %d columns: in the end, after %q, the screen shows\n%s\nwant\n%s", seed, columns, did, got, want)
		}
	}
}

// TestProgressBesideOutput draws the line from another goroutine.
func TestProgressBesideOutput(t *testing.T) {
	with, without := &testterm.Screen{Columns: 40}, &testterm.Screen{Columns: 40}
	c, o := newTerminal(with)
	done := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			select {
			case <-done:
				return
			default:
				c.show("progress")
			}
		}
	})
	for i := range 3000 {
		text := fmt.Sprint(i)
		if i%7 < 3 {
			text += "\n"
		}
		fmt.Fprint(without, text)
		if i%2 == 0 {
			_, _ = io.WriteString(c, text)
		} else {
			_, _ = io.WriteString(o, text)
			_ = o.Flush()
		}
	}
	close(done)
	wg.Wait()
	if c.leave(""); with.String() != without.String() {
		t.Errorf("the screen shows\n%s\nwant\n%s", with, without)
	}
}

// TestProgressComesAndGoes has one line in each of its states.
func TestProgressComesAndGoes(t *testing.T) {
	s := &testterm.Screen{Columns: 20}
	c, o := newTerminal(s)
	write := func(text string) func() { return func() { _, _ = o.Write([]byte(text)); _ = o.Flush() } }
	show := func(text string) func() { return func() { c.show(text) } }
	for _, step := range []struct {
		what string
		do   func()
		want string
	}{
		{"a last line and no other", func() { c.leave("short") }, ""},
		{"text of somebody else", func() { fmt.Fprint(s, "building... ") }, "building..."},
		{"the first line", show("1 job"), "building...\n1 job"},
		{"a longer one", show("a line that is longer than the terminal"), "building...\na line that is long"},
		{"a shorter one", show("2 jobs"), "building...\n2 jobs"},
		{"output without a newline", write("answer"), "building...\nanswer"},
		{"no line after it", show("3 jobs"), "building...\nanswer"},
		{"no last line after it", func() { c.leave("3 jobs in 1s") }, "building...\nanswer"},
		{"the end of the line", write("\n"), "building...\nanswer\n"},
		{"a line again", show("4 jobs"), "building...\nanswer\n4 jobs"},
		{"no bytes", write(""), "building...\nanswer\n4 jobs"},
		{"a message", func() { c.Message("m") }, "building...\nanswer\nstint: m\n"},
		{"a line that stays", func() { c.show("5 jobs"); c.leave("5 jobs in 1s, and more text") }, "building...\nanswer\nstint: m\n5 jobs in 1s, and m\n"},
		{"a line, and another process group", func() {
			c.show("5 jobs")
			c.columns = func() int { return 0 }
			c.show("6 jobs")
		}, "building...\nanswer\nstint: m\n5 jobs in 1s, and m\n5 jobs"},
		{"output in the background", write("x"), "building...\nanswer\nstint: m\n5 jobs in 1s, and m\n5 jobsx"},
	} {
		step.do()
		if got := s.String(); got != step.want {
			t.Errorf("%s: the screen shows %q, want %q", step.what, got, step.want)
		}
	}
}

// TestProgressPace counts the lines of three and a half seconds.
func TestProgressPace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for p, want := range map[Progress]int{NoProgress: 0, Lines: 3, Redrawn: 34} {
			var w strings.Builder
			n := 0
			stop := New(&w).Follow(p, func() string { n++; return "line" }, func() string { return "the last line" })
			time.Sleep(3450 * time.Millisecond)
			stop()
			stop() // does nothing
			if n != want {
				t.Errorf("%d: %d lines, want %d", p, n, want)
			}
			if got := strings.Count(w.String(), "the last line\n"); got != min(n, 1) {
				t.Errorf("%d: %d last lines", p, got)
			}
		}
	})
}

// TestProgressOfStreams wants none where it may be in the middle of what others write.
func TestProgressOfStreams(t *testing.T) {
	t.Setenv("TERM", "xterm")
	for _, test := range []struct {
		stdout, stderr string
		isShared       bool
		auto, always   Progress
	}{
		{"terminal", "terminal", false, Redrawn, Redrawn},
		{"terminal", "terminal", true, NoProgress, Lines},
		{"file", "terminal", false, Redrawn, Redrawn},
		{"pipe", "terminal", false, NoProgress, Redrawn},
		{"terminal", "file", false, NoProgress, Lines},
		{"terminal", "pipe", false, NoProgress, Lines},
		{"none", "none", false, NoProgress, Lines},
	} {
		t.Run(fmt.Sprintf("%s,%s,%v", test.stdout, test.stderr, test.isShared), func(t *testing.T) {
			s := Streams{Stdout: newStream(t, test.stdout), Stderr: newStream(t, test.stderr)}
			for when, want := range map[string]Progress{"auto": test.auto, "always": test.always, "never": NoProgress} {
				if got := s.Progress(when, test.isShared); got != want {
					t.Errorf("%s: %d, want %d", when, got, want)
				}
			}
		})
	}
}

// newStream returns a stream of some kind.
func newStream(t *testing.T, kind string) io.Writer {
	t.Helper()
	var f *os.File
	var err error
	switch kind {
	case "terminal":
		_, f = testterm.Open(t, 80)
	case "file":
		f, err = os.Create(t.TempDir() + "/file")
	case "pipe":
		var r *os.File
		if r, f, err = os.Pipe(); err == nil {
			t.Cleanup(func() { r.Close() })
		}
	default:
		return io.Discard
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}
