package template

import (
	"strconv"
	"strings"
)

// A form is what a placeholder makes of its item.
type form byte

const (
	literal form = iota // no placeholder
	whole
	noExt
	base
	dir
	baseNoExt
	seq
	slot
)

// forms are the texts of the placeholders without their number, and what follows the number
// of an item in the name of its variable.
var forms = [...]struct{ text, variable string }{
	whole: {"", ""}, noExt: {".", "_NOEXT"}, base: {"/", "_BASE"}, dir: {"//", "_DIR"}, baseNoExt: {"/.", "_BASE_NOEXT"},
	seq: {"#", "STINT_SEQ"}, slot: {"%", "STINT_SLOT"},
}

// A part is a piece of an ARG or of a script: a placeholder, or the text between two.
type part struct {
	form form
	in   quoting
	n    int // of {1}, or of {-1}; 0 means every item
	text string
}

// longest is the length of the longest placeholder, which has a number of 32 bits.
const longest = len("{-1234567890/.}")

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
	for p.form = whole; int(p.form) < len(forms); p.form++ {
		if forms[p.form].text == body {
			return p, p.n == 0 || p.form < seq
		}
	}
	return part{}, false
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
