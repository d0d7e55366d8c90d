package template

import (
	"slices"
	"strconv"
	"strings"
)

// A Script is a shell script with placeholders. It may be used by several goroutines.
//
// The items of a job are the positional parameters of its shell, and a placeholder is a
// reference to a parameter, in double quotes: items are never part of the script's text.
// Within the script's own quotes, single or double, the reference stands between them,
// so that '{}' and "{}" are the item too. Only what evaluates text again, such as eval,
// sh -c or the $(( )) of bash, may run an item.
//
// A placeholder after a backslash or a $, or in a comment, is ordinary text. The text of
// a here-document is taken for code: write $1 there.
type Script struct {
	parts []part
	cost  cost
}

// ParseScript returns the script that the words are, joined by spaces. The text replace
// means what it does for Parse. Nothing is appended to a script without a placeholder.
func ParseScript(words []string, replace string) *Script {
	s := &Script{parts: parse(strings.Join(words, " "), replace, code)}
	s.cost.addScript(s.parts)
	return s
}

// Expand returns the text of a job's script, and the variables that it refers to, as
// name=value: STINT_SEQ, STINT_SLOT, and for a form of the first item STINT_1_NOEXT,
// STINT_1_BASE, STINT_1_DIR or STINT_1_BASE_NOEXT. If seq or slot is 0, its variable is
// left out. The command of the job is
//
//	SHELL -c text NAME items...
//
// The text depends on nothing but the number of items. With several, {} is "$@", and x{}y
// has x before the first and y after the last. A missing item is empty.
func (s *Script) Expand(items []string, seq int64, slot int) (text string, env []string) {
	e := expansion{items: items, seq: seq, slot: slot}
	for _, r := range s.parts {
		if r.form == literal {
			e.text.WriteString(r.text)
			continue
		}
		before, after := r.in.marks()
		e.text.WriteString(before)
		e.refer(r)
		e.text.WriteString(after)
	}
	return e.text.String(), e.env
}

// Constant reports whether the script is the same for all jobs, whatever their items: it has
// neither a placeholder nor a $.
func (s *Script) Constant() bool {
	return !slices.ContainsFunc(s.parts, func(r part) bool { return r.form != literal || strings.Contains(r.text, "$") })
}

// Fill returns the script with the items in the place of the placeholders, for a person to read. A
// script without one is preceded by the command that sets its parameters.
func (s *Script) Fill(items []string, number int64) string {
	var b strings.Builder
	named := false
	for _, r := range s.parts {
		isItem := r.form > literal && r.form < seq
		named = named || isItem
		some := items
		if !r.all() {
			some = []string{""} // which it does not stand for
		}
		for i, item := range some {
			value := r.value(item, items, number, 0)
			if isItem && r.in <= backquotes {
				value = Quote([]string{value})
			}
			if i > 0 {
				b.WriteByte(' ')
			}
			b.WriteString(value)
		}
	}
	if named || len(items) == 0 {
		return b.String()
	}
	return "set -- " + Quote(items) + "; " + b.String()
}

// Beyond is Template.Beyond.
func (s *Script) Beyond(n int) string { return beyond(s.parts, n) }

// Cost returns the bytes that an item adds to the arguments and the variables of a job,
// or more. Without items they are those of Expand(nil, seq, slot).
func (s *Script) Cost(item string) int { return s.cost.of(item) }

// marks returns what goes before and after a reference, to put it in double quotes.
func (q quoting) marks() (before, after string) {
	switch q {
	case double, arithmetic:
		return "", ""
	case single:
		return `'"`, `"'`
	case ansi:
		return `'"`, `"$'`
	}
	return `"`, `"`
}

// An expansion makes the script of one job.
type expansion struct {
	items []string
	seq   int64
	slot  int
	text  strings.Builder
	env   []string
}

// refer writes the references that a placeholder stands for.
func (e *expansion) refer(p part) {
	switch {
	case p.form == seq:
		e.variable(forms[seq].variable, strconv.FormatInt(e.seq, 10), e.seq != 0)
	case p.form == slot:
		e.variable(forms[slot].variable, strconv.Itoa(e.slot), e.slot != 0)
	case !p.all():
		if i := p.index(len(e.items)); i >= 0 {
			e.item(p.form, i)
		}
	case p.form == whole && len(e.items) != 1:
		e.text.WriteString("${@}")
	default:
		for i := range e.items {
			if i > 0 {
				e.text.WriteString(`" "`)
			}
			e.item(p.form, i)
		}
	}
}

// item writes the reference to a form of an item.
func (e *expansion) item(f form, i int) {
	number := strconv.Itoa(i + 1)
	if f == whole {
		e.text.WriteString("${" + number + "}")
		return
	}
	e.variable("STINT_"+number+forms[f].variable, f.apply(e.items[i]), true)
}

// variable writes the reference to a variable, which is set if it is known.
func (e *expansion) variable(name, value string, known bool) {
	e.text.WriteString("${" + name + "}")
	if v := name + "=" + value; known && !slices.Contains(e.env, v) {
		e.env = append(e.env, v)
	}
}
