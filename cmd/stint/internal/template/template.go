// Package template turns a command with placeholders and the items of a job into
// arguments, or into a script for a shell.
//
// The placeholders are those of GNU parallel: {} is the item, {.} the item without
// extension, {/} its last element, {//} its directory, {/.} its last element without
// extension. {1}, {1.} and so on stand for the first item, {-1} for the last; a missing
// item is empty. {#} is the number of the job, {%} that of its slot.
package template

import (
	"slices"
	"strconv"
	"strings"
)

// A Template is a command with placeholders. It may be used by several goroutines.
type Template struct {
	args [][]part
	cost
}

// Parse returns the template of a command. The text replace stands for {}, which is
// ordinary text then; "" means "{}". Without any placeholder, the template ends in {}.
func Parse(args []string, replace string) *Template {
	t := &Template{}
	found := false
	for _, arg := range args {
		parts := parse(arg, replace, word)
		found = found || slices.ContainsFunc(parts, func(p part) bool { return p.form != literal })
		t.args = append(t.args, parts)
	}
	if !found {
		t.args = append(t.args, []part{{form: whole, text: "{}"}})
	}
	for _, parts := range t.args {
		t.addArgument(parts)
	}
	return t
}

// Expand returns the arguments of a job. The caller owns them.
//
// An argument with {}, {.}, {/}, {//} or {/.} is repeated for each item: x{}y with the
// items a and b is xay and xby, and with no item it is left out. If seq or slot is 0,
// {#} or {%} stays as it is.
func (t *Template) Expand(items []string, seq int64, slot int) []string {
	args := make([]string, 0, len(t.args)+len(items))
	for _, parts := range t.args {
		if !slices.ContainsFunc(parts, part.all) {
			args = append(args, expand(parts, "", items, seq, slot))
			continue
		}
		for _, item := range items {
			args = append(args, expand(parts, item, items, seq, slot))
		}
	}
	return args
}

// expand returns one argument, in which item takes the place of every item.
func expand(parts []part, item string, items []string, seq int64, slot int) string {
	if len(parts) == 1 {
		return parts[0].value(item, items, seq, slot)
	}
	var b strings.Builder
	for _, p := range parts {
		b.WriteString(p.value(item, items, seq, slot))
	}
	return b.String()
}

// value returns what takes the place of p.
func (p part) value(item string, items []string, number int64, n int) string {
	switch {
	case p.form == seq && number != 0:
		return strconv.FormatInt(number, 10)
	case p.form == slot && n != 0:
		return strconv.Itoa(n)
	case p.form == literal || p.form >= seq:
		return p.text
	case p.n == 0:
		return p.form.apply(item)
	}
	if i := p.index(len(items)); i >= 0 {
		return p.form.apply(items[i])
	}
	return ""
}

// Beyond returns a placeholder that stands for an item which a job with n items does not have,
// such as {4} if n is 3; "" is none.
func (t *Template) Beyond(n int) string {
	for _, parts := range t.args {
		if text := beyond(parts, n); text != "" {
			return text
		}
	}
	return ""
}

func beyond(parts []part, n int) string {
	for _, p := range parts {
		if p.n > n || -p.n > n {
			return p.text
		}
	}
	return ""
}
