package console

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/stint-go/stint/cmd/stint/internal/testfiles"
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
		if got := Quote(name); got != want {
			t.Errorf("Quote(%q) is %s, want %s", name, got, want)
		}
	}
	for _, name := range testfiles.OddNames {
		if got := Visible(Quote(name)); got != Quote(name) {
			t.Errorf("Visible(%s) is %s, want what Quote returned", Quote(name), got)
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
		{&WriteError{&fs.PathError{Op: "write", Path: "x", Err: syscall.ENOSPC}}, "No space left on device"},
		{&fs.PathError{Op: "read", Path: "x", Err: os.ErrClosed}, "file already closed"},
		{missing, "Invalid argument"},
		{errors.New("read error"), "read error"},
	} {
		if got := Reason(test.err); got != test.want {
			t.Errorf("Reason(%v) is %q, want %q", test.err, got, test.want)
		}
	}
}

// TestMessagesAreOneLine prints a hostile text, which clears the screen and looks like a
// message.
func TestMessagesAreOneLine(t *testing.T) {
	const hostile = "no\x1b[2J\r\nstint: all is well\x9b31m\u009b\u202e\x07\x7f"
	var errs strings.Builder
	c := New(&errs)
	c.Message(hostile)
	if want := `stint: no\033[2J\r\nstint: all is well\23331m\302\233\342\200\256\a\177` + "\n"; errs.String() != want {
		t.Errorf("message %q, want %q", &errs, want)
	}
	errs.Reset()
	c.Logger().Error(hostile, hostile, hostile, "err", errors.New(hostile))
	if text, ok := strings.CutSuffix(errs.String(), "\n"); !ok || !Printable(text) {
		t.Errorf("the log prints %q", &errs)
	}
}
