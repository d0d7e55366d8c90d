package main

import (
	"slices"
	"strconv"
	"strings"

	"github.com/stint-go/stint/cmd/stint/internal/testfiles"
)

// subjects make the comparisons. What becomes of items and of templates is compared in packages items
// and template, with tables: here are the flags, each with an example, and where stint run differs.
var subjects = map[string]func() []comparison{
	"placeholders": comparePlaceholders,
	"items":        compareItems,
	"replace":      compareReplace,
	"lines":        compareLines,
	"scripts":      compareScripts,
	"status":       compareStatus,
	"log":          compareLog,
	"halt":         compareHalt,
	"resume":       compareResume,
	"attempts":     compareAttempts,
	"output":       compareOutput,
}

// oddPaths are combinations of directories and names, and names that are hard to quote.
func oddPaths() []string {
	var paths []string
	for _, dir := range []string{"", "/", "a.b/", "../", "d//"} {
		for _, name := range []string{"f.x.y", ".x", "f.", "..", "f g.x y", "f//"} {
			paths = append(paths, dir+name)
		}
	}
	return slices.Concat(paths, testfiles.OddNames)
}

// oneLine returns those that a line can have.
func oneLine(names []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(s string) bool { return strings.Contains(s, "\n") })
}

// forms are templates that GNU parallel reads in the same way. Some are no placeholders.
var forms = strings.Fields("{} {.} {/} {//} {/.} {1} {1.} {1/} {1//} {1/.} {-1} {-1/} {#} {%} x{2}y x{}y -o{/.}.gz {}={.} {{}} {..} {a} {1..3} {,} {#}{%}")

// comparePlaceholders has every form for every path, in each way to give them.
func comparePlaceholders() []comparison {
	paths := oddPaths()
	nul := strings.Join(paths, "\x00") + "\x00"
	odd := strings.Join(testfiles.OddNames, "\x00") + "\x00"
	lines := oneLine(paths)
	return []comparison{
		{name: "list", script: `words -j1 show "$@"`, args: slices.Concat(forms, []string{":::"}, lines)},
		{name: "list of two lines", script: `words -j1 show {} ::: $'a\nb'`,
			differs: "an item of a list may have newlines; parallel splits it there", want: "[a\nb]\n"},
		{name: "lines", script: `words -j1 show "$@"`, args: forms, stdin: strings.Join(lines, "\n")},
		{name: "NUL", script: `words -j1 -0 show "$@"`, args: forms, stdin: nul},
		{name: "script in one word", script: `script -j1 -0 "$@"`, args: []string{"show " + strings.Join(forms, " ")}, stdin: nul},
		{name: "missing in a script", script: `script -j1 show {1} {2}`, stdin: "x\n",
			differs: "it is an empty word; parallel leaves no word", want: "[x][]\n"},
		{name: "none in a script", script: `script -j1 'show a'`, stdin: "x\ny\n",
			differs: "nothing is appended to a script", want: "[a]\n[a]\n"},
		{peer: "xargs", name: "none", script: `words -0 -n 1 show a`, stdin: odd},
		{peer: "xargs", name: "whole", script: `words -0 -P 1 -I{} show {} x{}y {}{}`, stdin: odd},
	}
}

// compareItems has where items come from, and how many a job gets.
func compareItems() []comparison {
	return []comparison{
		{name: "product", script: `words -j1 show {} {1} {2} {3} {2}-{1} {#} ::: a1 a2 ::: b1 b2 b3 ::: c1 c2; ended`},
		{name: "list without items", script: `words -j1 show {1} ::: a ::: ; ended`,
			differs: "a list without items makes no jobs; parallel takes it for one empty item", want: "succeeded\n"},
		{name: "files", script: `words -j1 -a ab -a - -a cde show {1} {2} {3} ::: x; ended`, stdin: "s\nt\n"},
		{name: "odd file", script: `words -j1 -a odd -a blank show {1} {2}; ended`},
		{name: "file without items", script: `words -j1 -a ab -a none show {1}; ended`,
			differs: "a file without items makes no jobs; parallel takes it for one empty item", want: "succeeded\n"},
		{name: "missing file", script: `words -j1 -a missing show; ended`},
		{name: "input of jobs", script: `script -j1 'cat; echo {}' ::: x y`, stdin: "s\nt\n"},
		{name: "nothing", script: `words show; ended`},
		{name: "groups", script: `words -j1 $group 2 show {} {1} {2} {-1} x{}y {.} {#}`, stdin: numbers(5)},
		{name: "-n and {}", script: `words -j1 -n 2 show {} {2} ::: 1 2 3`},
		{name: "-n and text around", script: `words -j1 -n 2 show x{}y ::: 1 2 3`,
			differs: "each item has its x and y, as with parallel's -N; parallel's -n is as its -m", want: "[x1y][x2y]\n[x3y]\n"},
		{name: "fit", script: `words -X -j2 show {} x{.}y ::: 1 2 3 4`},
		{name: "fit unevenly", script: `words -X -j4 show {} ::: 1 2 3 4 5`,
			differs: "the numbers of items differ by one at most; parallel fills the first jobs", want: "[1][2]\n[3]\n[4]\n[5]\n"},
		{name: "fit at most two", script: `words -j1 -X -n 2 show {}`, stdin: numbers(5)},
		{name: "columns", script: `words -j1 --colsep ' *[,;]' show {1} {2} {3} {} {1.}`, stdin: "u , v.w;x\n,v\na,b,\n,\n"},
		{name: "columns kept", script: `words -j1 $keep --colsep ' +' show {1} {2} {3} {4} ::: 'u  v' ' x y ' ::: '1.2 ab' m`},
		{name: "trim", script: `words -j1 $trim show {} {.}`, stdin: "  a b \n\tc\t.x \n \n"},
		{name: "delimiter", script: `words -j1 -d , show {}`, stdin: "a,b;c\nd,\n,,k\n"},
		{name: "delimiter, a backslash", script: `words -j1 -d '\\' show {}`, stdin: `a\b`, differs: "it is one backslash, as in xargs", want: "[a]\n[b]\n"},
	}
}

// numbers returns the lines 1 to n.
func numbers(n int) string {
	s := ""
	for i := range n {
		s += strconv.Itoa(i+1) + "\n"
	}
	return s
}

// compareReplace has texts that stand for the item.
func compareReplace() []comparison {
	return []comparison{
		{name: "text", script: `words -I ,, show ,, a,,b ,,,, {} ,,,`, stdin: "a.b\nc d\n"},
		{name: "text and others", script: `words -j1 -I % show % a%b {/} {#} {//}`, stdin: "a/b.c\n"},
		{name: "numbers", script: `words -j1 -I ,, show {1} {1.} ,,`, stdin: "x.y\n",
			differs: "{1} means the first item with -I, too; parallel knows only {1.} then", want: "[x.y][x][x.y]\n"},
		{name: "blanks", peer: "xargs", script: `words -I{} show {}`, stdin: "  a b \n",
			differs: "a line is an item as it is; xargs removes blanks before it", want: "[  a b ]\n"},
		{name: "quotes", peer: "xargs", script: `words -I{} show {}`, stdin: "a\\ b 'c d' \"e\"\n",
			differs: "a line is an item as it is; xargs reads quotes", want: "[a\\ b 'c d' \"e\"]\n"},
		{name: "unused", peer: "xargs", script: `words -I{} show a`, stdin: "x\n",
			differs: "without a placeholder the item is appended; xargs -I drops it", want: "[a][x]\n"},
		{name: "one each", peer: "xargs", script: `words show`, stdin: "x\ny\n",
			differs: "a job has one item; xargs gives it all, as -X does here", want: "[x]\n[y]\n"},
		{name: "words of a line", peer: "xargs", script: `words -n 1 show`, stdin: "x y\n",
			differs: "a line is an item; xargs splits it at blanks", want: "[x y]\n"},
		{name: "no items", peer: "xargs", script: `words show a`,
			differs: "without items there is no job; xargs has one unless -r is given", want: ""},
	}
}

// compareLines has lines that are commands.
func compareLines() []comparison {
	commands := "echo a; echo b\nshow 'x  y' \"$((1+2))\" \\\\ *b\nexit 3\nfalse || echo c\necho d | tr d e\n# nothing\nx=5; echo $x\ncat < ab\n(exit 4)\n\necho last"
	return []comparison{
		{name: "input", script: `lines -j1; ended`, stdin: commands},
		{name: "log", script: `lines -j1 --joblog log; log log`, stdin: commands},
		{name: "product", script: `lines -j1 ::: echo show ::: a 'b c'; ended`},
		{name: "placeholders", script: `lines -j1`, stdin: "echo {} {#}\n"},
		{name: "crlf", script: `lines -j1 | od -c`, stdin: "echo a\r\n"},
	}
}

// shellTexts are commands for the shell that are safe for every item in both programs.
var shellTexts = []string{
	`show {}`, `show a{}b {.}`, `echo {} | tr a-z A-Z`, `x={}; show "$x"`, `show $(echo {})`, `if [ {} = plain ]; then echo yes; else echo no; fi`, `cat <<< {}`,
	`f() { show "$@"; }; f {} {/}`, `show {} > out.{#}; cat out.{#}`, `show $((1 + {#}))`, `! show {}`, `[[ {} == plain ]] && show {}; true`,
}

// compareScripts runs them for odd items.
func compareScripts() []comparison {
	var cases []comparison
	nul := strings.Join(slices.Concat(testfiles.OddNames[:2], testfiles.OddNames[6:9], testfiles.OddNames[15:18], []string{"d/e f.x"}), "\x00")
	for _, text := range shellTexts {
		cases = append(cases, comparison{name: text, script: `script -j1 -0 "$1"; ended`, args: []string{text}, stdin: nul})
	}
	for _, q := range []string{`"`, `'`} {
		cases = append(cases, comparison{name: q, script: `script -j1 "$1"`, args: []string{"show " + q + "{}" + q}, stdin: "a b\n$c\n",
			differs: "a placeholder in quotes is the item; parallel puts its own quotes within them", want: "[a b]\n[$c]\n"})
	}
	return append(cases,
		comparison{name: "plain in quotes", script: `script -j1 "$1"`, args: []string{`show "{}" a"{.}" '{}'`}, stdin: "a.b\nplain\n"},
		comparison{name: "parameter", script: `script -j1 'show "$1" $#'`, stdin: "a b\n",
			differs: `the item is "$1", too`, want: "[a b][1]\n"},
		comparison{name: "name", script: `script -j1 'show "$0"'`, stdin: "a\n",
			differs: `$0 is "stint", and nothing is appended; for parallel it is the shell`, want: "[stint]\n"},
		comparison{name: "functions", script: `f() { show f "$@"; }; export -f f; script -j1 f {} ::: 'a b' c`},
		comparison{name: "functions of bash", script: `unset SHELL STINT_SHELL; f() { show f "$@"; }; export -f f; script -j1 f {} ::: 'a b' c`},
	)
}
