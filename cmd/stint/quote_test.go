package main

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/stint-go/stint/cluster"
)

func TestQuote(t *testing.T) {
	for name, want := range map[string]string{
		"":              `''`,
		"plain-1.2/é_~": `plain-1.2/é_~`,
		"-n":            `-n`,
		"a b":           `'a b'`,
		"it's":          `"it's"`,
		"it's $5":       `'it'\''s $5'`,
		"{":             `'{'`,
		"a{":            `a{`,
		"~":             `'~'`,
		"new\nline":     `'new'$'\n''line'`,
		"\x01":          `''$'\001'`,
		"a\xff\xfeb":    `'a'$'\377\376''b'`,
		"\ufffd":        "\ufffd",
		"end\t":         `'end'$'\t'`,
	} {
		if got := quote(name); got != want {
			t.Errorf("quote(%q) is %s, want %s", name, got, want)
		}
	}
}

func TestReason(t *testing.T) {
	_, missing := os.Open("missing\x00")
	for _, test := range []struct {
		err  error
		want string
	}{
		{&fs.PathError{Op: "open", Path: "x", Err: syscall.ENOENT}, "No such file or directory"},
		{&writeError{&fs.PathError{Op: "write", Path: "x", Err: syscall.ENOSPC}}, "No space left on device"},
		{&fs.PathError{Op: "read", Path: "x", Err: os.ErrClosed}, "file already closed"},
		{missing, "Invalid argument"},
		{errors.New("read error"), "read error"},
	} {
		if got := reason(test.err); got != test.want {
			t.Errorf("reason(%v) is %q, want %q", test.err, got, test.want)
		}
	}
}

// forged is what a hostile text may hold: it clears the screen, and looks like messages.
const forged = "no\x1b[2J\r\nstint: all is well\x9b31m\u009b\u202e\x07\x7f"

// TestMessagesAreOneLine wants of every text one printable line, and what quote returned
// as it is.
func TestMessagesAreOneLine(t *testing.T) {
	var errs strings.Builder
	c := &console{w: &errs}
	c.message(forged)
	if want := `stint: no\033[2J\r\nstint: all is well\23331m\302\233\342\200\256\a\177` + "\n"; errs.String() != want {
		t.Errorf("message %q, want %q", &errs, want)
	}
	for _, name := range oddNames {
		if got := visible(quote(name)); got != quote(name) {
			t.Errorf("%q is quoted twice: %s", name, got)
		}
	}
	for _, err := range []error{&failure{forged}, &writeError{errors.New(forged)}, &usageError{"stint", forged}, errors.New(forged)} {
		errs.Reset()
		status(err, &errs)
		lines := strings.Split(strings.TrimSuffix(errs.String(), "\n"), "\n")
		if len(lines) > 2 || !printable(strings.Join(lines, "")) || len(lines) == 2 && !strings.HasPrefix(lines[1], "Try ") {
			t.Errorf("%T: messages %q", err, &errs)
		}
	}
	errs.Reset()
	c.logger().Error(forged, forged, forged, "err", errors.New(forged))
	if text, ok := strings.CutSuffix(errs.String(), "\n"); !ok || !printable(text) {
		t.Errorf("the log writes %q", &errs)
	}
}

// TestHostileWorker has a worker that answers with what a terminal would obey.
func TestHostileWorker(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "a", "a\n")
	write(t, "b", "b\n")
	url, _ := serve(t)
	e, err := cluster.Connect(t.Context(), url, cluster.NATS(tokenOf(url)))
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	e.Handle(cluster.NewTask("digest/v1", func(_ context.Context, q question) (answer, error) {
		if strings.HasSuffix(string(q.Path), "a") {
			return answer{Error: forged}, nil
		}
		return answer{}, errors.New(forged)
	}))
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- cluster.Serve(ctx, e) }()
	for _, args := range [][]string{{"a", "b"}, {"--json", "a", "b"}} {
		out, errs, code := runStint(t, "", append([]string{"sum", "--cluster", url}, args...)...)
		lines := strings.Split(strings.TrimSuffix(errs, "\n"), "\n")
		if code != 1 || len(lines) != 2 || !printable(strings.Join(lines, "")) || !printable(strings.ReplaceAll(out, "\n", "")) {
			t.Errorf("%q: exit status %d, output %q, messages %q; want two printable lines", args, code, out, errs)
		}
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
}
