package main

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
	"testing"
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
