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
	printable := Printable(name)
	switch {
	case name == "":
		return "''"
	case printable && name != "{" && name != "}" && !strings.ContainsRune("#~", rune(name[0])) && !strings.ContainsAny(name, " !\"$&'()*:;<=>?[\\^`|"):
		return name
	case printable && strings.Contains(name, "'") && !strings.ContainsAny(name, "\"$`\\!"):
		return `"` + name + `"`
	}
	quoted := "'" + visible(strings.ReplaceAll(name, "'", `'\''`), "'$'", "''")
	if strings.HasSuffix(quoted, "''") && !strings.HasSuffix(name, "'") { // the end is unprintable
		return quoted[:len(quoted)-1]
	}
	return quoted + "'"
}

// Visible returns text with escapes for what cannot be printed. The result is one line
// and sends a terminal no command, whoever wrote text. Visible does not change what
// Quote returned.
func Visible(text string) string { return visible(text, "", "") }

// visible returns text with escapes, between before and after, for what cannot be printed.
func visible(text, before, after string) string {
	var b strings.Builder
	escaped := false
	for len(text) > 0 {
		r, n := utf8.DecodeRuneInString(text)
		printable := unicode.IsPrint(r) && (r != utf8.RuneError || n > 1) // of size 1: no UTF-8
		switch {
		case printable && escaped:
			b.WriteString(after)
		case !printable && !escaped:
			b.WriteString(before)
		}
		if escaped = !printable; escaped {
			b.WriteString(escape(text[:n]))
		} else {
			b.WriteString(text[:n])
		}
		text = text[n:]
	}
	if escaped {
		b.WriteString(after)
	}
	return b.String()
}

// Printable reports whether every byte of text is part of a printable character.
func Printable(text string) bool { return Visible(text) == text }

// escape returns every byte of s in the form that $'...' reads.
func escape(s string) string {
	var b strings.Builder
	for i := range len(s) {
		if l := strings.IndexByte("\a\b\t\n\v\f\r", s[i]); l >= 0 {
			b.WriteString(`\` + "abtnvfr"[l:l+1])
		} else {
			fmt.Fprintf(&b, `\%03o`, s[i])
		}
	}
	return b.String()
}
