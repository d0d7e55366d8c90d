package template

import (
	"math"
	"slices"
	"strings"
	"testing"
)

// expansions are templates, the items of one job, and its arguments. GNU parallel 20221122 -q -N
// has the same where differs is empty.
var expansions = []struct {
	template string // words between bars
	replace  string
	items    []string
	want     string
	differs  string // what GNU parallel has
}{
	{"a|b", "", []string{"x", "y z"}, "a|b|x|y z", ""},
	{"a|{}|b", "", []string{""}, "a||b", ""},
	{"{}o|a", "", []string{"ech"}, "echo|a", ""},
	{"{}|-o{}.gz|{}={.}|{1}:{}", "", []string{"x.a", "y z"}, "x.a|y z|-ox.a.gz|-oy z.gz|x.a=x|y z=y z|x.a:x.a|x.a:y z", ""},
	{"{#}:{%}:{}", "", []string{"x", "y"}, "1:1:x|1:1:y", ""},
	{"{#}", "", []string{"x", "y"}, "1", ""},
	{"{2}|{1}", "", []string{"x", "y", "z"}, "y|x", ""},
	{"{2.}|{-1/}|{-3}|{3//}|{1/.}", "", []string{"a/b.c", "d/e.f", "g/h.i"}, "d/e|h.i|a/b.c|g|b", ""},
	{"{2}|x{2}|{2}{3}|{2.}{1}", "", []string{"a"}, "|x||a", ""},
	{"{2//}|{-2}|x{-5}", "", []string{"a"}, "||x", `{2//} is ".", {-2} the last item`},
	{"{12}|{1}2|{-12}", "", strings.Split("a b c d e f g h i j k l", " "), "l|a2|a", ""},
	{"{ }|{a}|{1.|{1..3}|a{2,3}|{..}|{//.}|{/..}|{1,}|{+1}|{1/|{", "", []string{"x"}, "{ }|{a}|{1.|{1..3}|a{2,3}|{..}|{//.}|{/..}|{1,}|{+1}|{1/|{|x", ""},
	{"{{1}}|{{}}|{}}|{{}|{}{}|{.}{", "", []string{"x"}, "{x}|{x}|x}|{x|xx|x{", ""},
	{"{0}|{01}|{-0}|{-}|{99999999999}|x", "", []string{"a"}, "{0}|{01}|{-0}|{-}|{99999999999}|x|a", "{0} and the like are the item"},
	{"{1#}|{#1}|{%.}|{1%}", "", []string{"x"}, "{1#}|{#1}|{%.}|{1%}|x", "{1#} is empty"},
	{",,|{}|a,,b|{.}|,,,", ",,", []string{"x.y"}, "x.y|{}|ax.yb|x|x.y,", ""},
	{"{.}|{}", "{.}", []string{"x.y"}, "x.y|{}", ""},
	{"a b{}", "", []string{"x", "y"}, "a bx|a by", "a word with a blank is as two"},
	{"${1} ${#}|{}", "", []string{"a"}, "${1} ${#}|a", "GNU replaces {1} and {#}"},
	{"{}|x{}|{.}", "", []string{"it's \"$(x)\" \\ {} {1}", "a\nb.c", "\xff.\xfe"}, "it's \"$(x)\" \\ {} {1}|a\nb.c|\xff.\xfe|xit's \"$(x)\" \\ {} {1}|xa\nb.c|x\xff.\xfe|it's \"$(x)\" \\ {} {1}|a\nb|\xff", ""},
}

func TestExpand(t *testing.T) {
	for _, test := range expansions {
		template := Parse(strings.Split(test.template, "|"), test.replace)
		if got := strings.Join(template.Expand(test.items, 1, 1), "|"); got != test.want {
			t.Errorf("%q with %q is %q, want %q", test.template, test.items, got, test.want)
		}
	}
}

func TestExpandLeavesNumbers(t *testing.T) {
	want := []string{"9", "a{%}bx", "x"}
	if got := Parse([]string{"{#}", "a{%}b{}", "{}"}, "").Expand([]string{"x"}, 9, 0); !slices.Equal(got, want) {
		t.Errorf("with a job number: %q, want %q", got, want)
	}
}

func TestExpandWithoutItems(t *testing.T) {
	got := Parse([]string{"a", "{}", "x{.}", "{1}"}, "").Expand(nil, 1, 1)
	if want := []string{"a", ""}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// size returns what the system counts for arguments or variables.
func size(words []string) int {
	n := 0
	for _, w := range words {
		n += len(w) + overhead
	}
	return n
}

// checkCost checks that items take no more than their cost.
func checkCost(t *testing.T, items []string, cost func(string) int, size func([]string) int) {
	t.Helper()
	sum := 0
	for _, item := range items {
		sum += cost(item)
	}
	if grown := size(items) - size(nil); grown > sum {
		t.Errorf("%q take %d bytes, more than their cost of %d", items, grown, sum)
	}
}

func TestCost(t *testing.T) {
	if got, want := Parse([]string{"a", "{}", "x{}"}, "").Cost("12345"), 2*(5+overhead)+1; got != want {
		t.Errorf("the cost of an item is %d, want %d", got, want)
	}
}

// FuzzParse takes a text for arguments and for a script.
func FuzzParse(f *testing.F) {
	for _, test := range expansions {
		f.Add(test.template, test.replace, strings.Join(test.items, "|"))
	}
	for _, test := range scripts {
		f.Add(test.script, "", "a|b.c")
	}
	f.Fuzz(func(t *testing.T, text, replace, list string) {
		for _, in := range []quoting{word, code} {
			whole := ""
			for _, p := range parse(text, replace, in) {
				if p.text == "" {
					t.Errorf("%q has an empty part", text)
				}
				whole += p.text
			}
			if whole != text {
				t.Errorf("the parts of %q are %q", text, whole)
			}
		}
		items := strings.Split(list, "|")
		script := ParseScript([]string{text}, replace)
		first, env := script.Expand(items, 1, 1)
		again, names := script.Expand(make([]string, len(items)), 1, 1)
		if first != again || len(env) != len(names) {
			t.Errorf("the text depends on the items: %q, %q", first, again)
		}
		if slices.Sort(env); len(slices.Compact(env)) != len(names) {
			t.Errorf("a variable is there twice: %q", env)
		}
		checkCost(t, items, script.Cost, func(items []string) int {
			text, env := script.Expand(items, math.MaxInt64, math.MaxInt)
			return len(text) + size(env) + size(items)
		})
		template := Parse(strings.Split(text, "|"), replace)
		for i := range items { // Cost does not know how long the others are
			items[i] = (items[i] + strings.Repeat("x", len(list)))[:len(list)]
		}
		checkCost(t, items, template.Cost, func(items []string) int {
			return size(template.Expand(items, math.MaxInt64, math.MaxInt))
		})
	})
}
