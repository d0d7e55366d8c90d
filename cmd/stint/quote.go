package main

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"
	"unicode"
	"unicode/utf8"
)

// quote returns name as coreutils writes it in a message: bare if a shell
// would take it as one plain word, else quoted for a shell, with what cannot
// be printed as an octal escape. A message is then always one line.
func quote(name string) string {
	switch {
	case name == "":
		return "''"
	case plain(name):
		return name
	case strings.Contains(name, "'") && !strings.ContainsAny(name, "\"$`\\!") && printable(name):
		return `"` + name + `"`
	}
	var b strings.Builder
	b.WriteByte('\'')
	for len(name) > 0 {
		r, n := utf8.DecodeRuneInString(name)
		switch {
		case name[0] == '\'':
			b.WriteString(`'\''`)
		case printableRune(r, n):
			b.WriteString(name[:n])
		default:
			n = unprintable(name)
			b.WriteString("'$'" + escape(name[:n]) + "'")
			if n == len(name) {
				return b.String()
			}
			b.WriteByte('\'')
		}
		name = name[n:]
	}
	b.WriteByte('\'')
	return b.String()
}

// visible is text with what cannot be printed as escapes, so that it is one line and
// commands no terminal, whoever wrote it. What quote returned stays as it is.
func visible(text string) string {
	var b strings.Builder
	for len(text) > 0 {
		r, n := utf8.DecodeRuneInString(text)
		if printableRune(r, n) {
			b.WriteString(text[:n])
		} else {
			n = unprintable(text)
			b.WriteString(escape(text[:n]))
		}
		text = text[n:]
	}
	return b.String()
}

// plain reports whether a shell reads name as one word without quotes.
func plain(name string) bool {
	if strings.ContainsRune("#~", rune(name[0])) || name == "{" || name == "}" {
		return false
	}
	return printable(name) && !strings.ContainsAny(name, " !\"$&'()*:;<=>?[\\^`|")
}

func printable(name string) bool {
	for len(name) > 0 {
		r, n := utf8.DecodeRuneInString(name)
		if !printableRune(r, n) {
			return false
		}
		name = name[n:]
	}
	return true
}

// printableRune says so of a rune and its encoded size, as DecodeRune gives
// them.
func printableRune(r rune, size int) bool {
	return unicode.IsPrint(r) && (r != utf8.RuneError || size > 1)
}

// unprintable is the length of the run of unprintable bytes that name starts
// with.
func unprintable(name string) int {
	for i := 0; i < len(name); {
		r, n := utf8.DecodeRuneInString(name[i:])
		if printableRune(r, n) {
			return i
		}
		i += n
	}
	return len(name)
}

// escape writes every byte of s in the form that $'...' reads.
func escape(s string) string {
	letters := map[byte]string{'\a': `\a`, '\b': `\b`, '\t': `\t`, '\n': `\n`, '\v': `\v`, '\f': `\f`, '\r': `\r`}
	var b strings.Builder
	for i := range len(s) {
		if l, ok := letters[s[i]]; ok {
			b.WriteString(l)
		} else {
			fmt.Fprintf(&b, `\%03o`, s[i])
		}
	}
	return b.String()
}

// reason is what went wrong without the operation and the path, which Go adds
// and our messages have already. The system's errors get the capital that the
// C library gives them.
func reason(err error) string {
	var errno syscall.Errno
	var path *fs.PathError
	switch {
	case errors.As(err, &errno):
		s := errno.Error()
		return strings.ToUpper(s[:1]) + s[1:]
	case errors.As(err, &path):
		return path.Err.Error()
	}
	return err.Error()
}
