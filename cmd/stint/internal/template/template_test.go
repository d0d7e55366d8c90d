package template

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// expansions are templates, the items of one job, and its arguments. GNU parallel -q -N
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

// TestExpandAsParallel compares the table with the program.
func TestExpandAsParallel(t *testing.T) {
	if testing.Short() {
		t.Skip("starts Perl many times")
	}
	for _, test := range expansions {
		if test.differs != "" {
			continue
		}
		args := []string{"-q", "-0", "-N" + strconv.Itoa(len(test.items))}
		if test.replace != "" {
			args = append(args, "-I", test.replace)
		}
		args = append(args, "sh", "-c", `for a do printf '%s\0' "$a"; done`, "sh")
		args = append(args, strings.Split(test.template, "|")...)
		got := strings.Join(parallel(t, strings.Join(test.items, "\x00")+"\x00", args...), "|")
		if got != test.want {
			t.Errorf("%q with %q is %q for parallel, the table has %q", test.template, test.items, got, test.want)
		}
	}
}

func TestExpandLeavesNumbers(t *testing.T) {
	template := Parse([]string{"{#}", "a{%}b{}", "{}"}, "")
	want := []string{"{#}", "a{%}bx", "x"}
	if got := template.Expand([]string{"x"}, 0, 0); !slices.Equal(got, want) {
		t.Errorf("with neither number: %q, want %q", got, want)
	}
	want = []string{"9", "a{%}bx", "x"}
	if got := template.Expand([]string{"x"}, 9, 0); !slices.Equal(got, want) {
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
	for _, test := range expansions {
		template := Parse(strings.Split(test.template, "|"), test.replace)
		checkCost(t, test.items, template.Cost, func(items []string) int {
			return size(template.Expand(items, math.MaxInt64, math.MaxInt))
		})
	}
	if got, want := Parse([]string{"a", "{}", "x{}"}, "").Cost("12345"), 2*(5+overhead)+1; got != want {
		t.Errorf("the cost of an item is %d, want %d", got, want)
	}
}

func FuzzParse(f *testing.F) {
	for _, test := range expansions {
		f.Add(test.template, test.replace, strings.Join(test.items, "|"))
	}
	f.Fuzz(func(t *testing.T, text, replace, list string) {
		args, items := strings.Split(text, "|"), strings.Split(list, "|")
		for _, arg := range args {
			whole := ""
			for _, p := range parse(arg, replace) {
				if p.text == "" {
					t.Errorf("%q has an empty part", arg)
				}
				whole += p.text
			}
			if whole != arg {
				t.Errorf("the parts of %q are %q", arg, whole)
			}
		}
		template := Parse(args, replace)
		for i := range items { // Cost does not know how long the others are
			items[i] = (items[i] + strings.Repeat("x", len(list)))[:len(list)]
		}
		checkCost(t, items, template.Cost, func(items []string) int {
			return size(template.Expand(items, math.MaxInt64, math.MaxInt))
		})
		if replace == "" && !strings.Contains(text, "{") {
			if got, want := template.Expand(items, 1, 1), append(args, items...); !slices.Equal(got, want) {
				t.Errorf("got %q, want %q", got, want)
			}
		}
	})
}
