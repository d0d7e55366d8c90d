package template

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// A nester makes random words of a script, and the text that each is for its items.
type nester struct {
	*rand.Rand
	items      []string // the second is 3
	backquotes bool     // within a pair, which does not nest and takes backslashes away
}

// word returns a word and its value.
func (n *nester) word(depth int) (script, value string) {
	for range 1 + n.IntN(3) {
		s, v := n.oneOf([]func() (string, string){
			func() (string, string) { return "ab", "ab" },
			n.escaped,
			func() (string, string) { return n.quoted("'", depth, nil) },
			func() (string, string) { return n.quoted(`"`, depth, n.inDouble(depth)) },
			n.item, n.item,
		})
		script, value = script+s, value+v
	}
	return script, value
}

func (n *nester) oneOf(from []func() (string, string)) (string, string) {
	return from[n.IntN(len(from))]()
}

func (n *nester) item() (string, string) {
	return []string{"{1}", "{-2}", "{1.}"}[n.IntN(3)], n.items[0] // which has no extension
}

func (n *nester) escaped() (string, string) {
	if n.backquotes {
		return "a", "a"
	}
	return `\"\$\\`, `"$\`
}

// quoted returns items and what more makes within quotes.
func (n *nester) quoted(mark string, depth int, more []func() (string, string)) (script, value string) {
	other := map[string]string{"'": `"`, `"`: "'"}[mark]
	for range n.IntN(4) {
		s, v := n.oneOf(append(more, n.item, func() (string, string) { return "(" + other + "#", "(" + other + "#" }))
		script, value = script+s, value+v
	}
	return mark + script + mark, value
}

// inDouble returns what only double quotes expand.
func (n *nester) inDouble(depth int) []func() (string, string) {
	if depth == 0 {
		return nil
	}
	command := func() (string, string) {
		script, value := n.word(depth - 1)
		return "printf %s. " + script, value + "."
	}
	more := []func() (string, string){
		n.escaped,
		func() (string, string) { return "$((1+({2})*2))", "7" },
		func() (string, string) { return "${none:-{1}}", n.items[0] },
		func() (string, string) { s, v := command(); return "$(" + s + ")", v },
		func() (string, string) { s, v := command(); return "$( (" + s + ") # it's (\n)", v },
	}
	if !n.backquotes {
		more = append(more, func() (string, string) {
			n.backquotes = true
			s, v := command()
			n.backquotes = false
			return "`" + s + "`", v
		})
	}
	return more
}

// TestNestedQuotes lets shells expand random words.
func TestNestedQuotes(t *testing.T) {
	n := &nester{Rand: rand.New(rand.NewPCG(1, 2)), items: []string{"i  * 'q\" $(x) \\\n#", "3"}}
	for range 20 {
		var words []string
		want := ""
		for range 20 {
			script, value := n.word(2)
			words = append(words, script)
			want += "[" + value + "]"
		}
		for _, shell := range shells(t) {
			script := ParseScript(append([]string{"printf '[%s]'"}, words...), "")
			if got := runScript(t, shell, script, n.items...); got != want {
				t.Fatalf("%s: %s\nprints %q\nwant   %q", shell, strings.Join(words, "\n"), got, want)
			}
		}
	}
}
