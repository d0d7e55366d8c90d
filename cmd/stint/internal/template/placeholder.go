package template

import (
	"strconv"
	"strings"
)

// A form is what a placeholder makes of its item.
type form byte

const (
	literal   form = iota // no placeholder
	whole                 // {}
	noExt                 // {.}
	base                  // {/}
	dir                   // {//}
	baseNoExt             // {/.}
	seq                   // {#}
	slot                  // {%}
)

// forms are the placeholders without their number.
var forms = map[string]form{"": whole, ".": noExt, "/": base, "//": dir, "/.": baseNoExt, "#": seq, "%": slot}

// A part is a piece of an ARG: a placeholder, or the text between two.
type part struct {
	form form
	n    int // of {1}, or of {-1}; 0 means every item
	text string
}

// longest is the length of the longest placeholder, which has a number of 32 bits.
const longest = len("{-1234567890/.}")

// parse returns the parts of s. Their texts are s. A ${1} in s belongs to a shell.
func parse(s, replace string) []part {
	var parts []part
	start := 0
	for i := 0; i < len(s); {
		p, ok := placeholder(s[i:], replace)
		if !ok || s[i] == '{' && i > 0 && s[i-1] == '$' {
			i++
			continue
		}
		if start < i {
			parts = append(parts, part{text: s[start:i]})
		}
		parts = append(parts, p)
		i += len(p.text)
		start = i
	}
	if start < len(s) {
		parts = append(parts, part{text: s[start:]})
	}
	return parts
}

// placeholder returns the placeholder that s begins with. The text replace is one that
// means {}, which then means itself; "" is "{}".
func placeholder(s, replace string) (part, bool) {
	if replace != "" && strings.HasPrefix(s, replace) {
		return part{form: whole, text: replace}, true
	}
	if s[0] != '{' {
		return part{}, false
	}
	end := strings.IndexByte(s[:min(len(s), longest)], '}')
	if end < 0 || end == 1 && replace != "" {
		return part{}, false
	}
	p := part{text: s[:end+1]}
	body := s[1:end]
	digits := len(body) - len(strings.TrimLeft(strings.TrimPrefix(body, "-"), "0123456789"))
	if digits > 0 {
		n, err := strconv.ParseInt(body[:digits], 10, 32)
		if err != nil || strings.TrimPrefix(body, "-")[0] == '0' {
			return part{}, false
		}
		p.n, body = int(n), body[digits:]
	}
	f, ok := forms[body]
	if p.form = f; p.n != 0 && f >= seq {
		ok = false
	}
	return p, ok
}

// all reports whether p stands for every item.
func (p part) all() bool { return p.n == 0 && p.form >= whole && p.form < seq }

// index returns the index of the item that p stands for, or -1 if there is none.
func (p part) index(items int) int {
	i := p.n - 1
	if p.n < 0 {
		i = items + p.n
	}
	if i < 0 || i >= items {
		return -1
	}
	return i
}
