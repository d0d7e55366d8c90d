package console

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Quote returns name as coreutils prints it in messages: bare if a shell reads it as
// one word, otherwise quoted for a shell, with octal escapes for unprintable bytes.
// The result is one line.
func Quote(name string) string {
	switch {
	case name == "":
		return "''"
	case isPlain(name):
		return name
	case strings.Contains(name, "'") && !strings.ContainsAny(name, "\"$`\\!") && Printable(name):
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

// Visible returns text with escapes for what cannot be printed. The result is one line
// and sends a terminal no command, whoever wrote text. Visible does not change what
// Quote returned.
func Visible(text string) string {
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

// Printable reports whether every byte of text is part of a printable character.
func Printable(text string) bool { return Visible(text) == text }

// isPlain reports whether a shell reads name as one word without quotes.
func isPlain(name string) bool {
	if strings.ContainsRune("#~", rune(name[0])) || name == "{" || name == "}" {
		return false
	}
	return Printable(name) && !strings.ContainsAny(name, " !\"$&'()*:;<=>?[\\^`|")
}

// printableRune reports whether a rune is printable. Its size in bytes tells U+FFFD
// from a byte that is not UTF-8.
func printableRune(r rune, size int) bool {
	return unicode.IsPrint(r) && (r != utf8.RuneError || size > 1)
}

// unprintable returns the length of the unprintable bytes that text begins with.
func unprintable(text string) int {
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRuneInString(text[i:])
		if printableRune(r, n) {
			return i
		}
		i += n
	}
	return len(text)
}

// escape returns every byte of s in the form that $'...' reads.
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
