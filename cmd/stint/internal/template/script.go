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
	cost
}

// ParseScript returns the script that the words are, joined by spaces. The text replace
// means what it does for Parse. Nothing is appended to a script without a placeholder.
func ParseScript(words []string, replace string) *Script {
	s := &Script{parts: parse(strings.Join(words, " "), replace, code)}
	s.addScript(s.parts)
	return s
}

// Expand returns the text of a job's script, and the variables that it refers to, as
// name=value: STINT_SEQ, STINT_SLOT, and for a form of the first item STINT_1_NOEXT,
// STINT_1_BASE, STINT_1_DIR or STINT_1_BASE_NOEXT. If number, that of the job, or n, that
// of its slot, is 0, its variable is left out. The command of the job is
//
//	SHELL -c text NAME items...
//
// The text depends on nothing but the number of items. With several, {} is "$@", and x{}y
// has x before the first and y after the last. A missing item is empty.
func (s *Script) Expand(items []string, number int64, n int) (text string, env []string) {
	var b strings.Builder
	isSet := map[string]bool{}
	set := func(name, value string) {
		if !isSet[name] {
			isSet[name], env = true, append(env, name+"="+value)
		}
	}
	for _, r := range s.parts {
		var references []string // to parameters and variables
		switch {
		case r.form == literal:
			b.WriteString(r.text)
			continue
		case r.form >= seq:
			name := forms[r.form].variable
			references = []string{"${" + name + "}"}
			if value := r.value("", nil, number, n); value != r.text {
				set(name, value)
			}
		case r.form == whole && r.all() && len(items) != 1:
			references = []string{"${@}"}
		default:
			for i, item := range items {
				if !r.all() && i != r.index(len(items)) {
					continue
				}
				name := strconv.Itoa(i + 1)
				if r.form != whole {
					name = "STINT_" + name + forms[r.form].variable
					set(name, r.form.apply(item))
				}
				references = append(references, "${"+name+"}")
			}
		}
		before, after := r.in.marks()
		b.WriteString(before + strings.Join(references, `" "`) + after)
	}
	return b.String(), env
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
