package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/stint-go/stint/cmd/stint/internal/testfiles"
)

// subjects generate the comparisons.
var subjects = map[string]func() []comparison{
	"placeholders": comparePlaceholders,
	"products":     compareProducts,
	"files":        compareFiles,
	"groups":       compareGroups,
	"fit":          compareFit,
	"columns":      compareColumns,
	"delimiters":   compareDelimiters,
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
	all := strings.Join(forms, " ")
	cases := []comparison{
		{name: "list", script: `words -j1 show "$@"`, args: slices.Concat(forms, []string{":::"}, lines)},
		{name: "list of two lines", script: `words -j1 show {} ::: $'a\nb'`,
			differs: "an item of a list may have newlines; parallel splits it there", want: "[a\nb]\n"},
		{name: "lines", script: `words -j1 show "$@"`, args: forms, stdin: strings.Join(lines, "\n")},
		{name: "NUL", script: `words -j1 -0 show "$@"`, args: forms, stdin: nul},
		{name: "script", script: `script -j1 -0 show "$@"`, args: forms, stdin: nul},
		{name: "script in one word", script: `script -j1 -0 "$@"`, args: []string{"show " + all}, stdin: nul},
		{name: "missing in a script", script: `script -j1 show {1} {2}`, stdin: "x\n",
			differs: "it is an empty word; parallel leaves no word", want: "[x][]\n"},
		{name: "none", script: `words -j1 -0 show a`, stdin: odd},
		{name: "none in a script", script: `script -j1 'show a'`, stdin: "x\ny\n",
			differs: "nothing is appended to a script", want: "[a]\n[a]\n"},
		{peer: "xargs", name: "none", script: `words -0 -n 1 show a`, stdin: odd},
		{peer: "xargs", name: "whole", script: `words -0 -P 1 -I{} show {} x{}y {}{}`, stdin: odd},
	}
	return cases
}

// lists returns lists of these sizes, as operands: a1 a2 ..., b1 b2 ...
func lists(sizes ...int) []string {
	var args []string
	for i, size := range sizes {
		args = append(args, ":::")
		for n := range size {
			args = append(args, string(rune('a'+i))+strconv.Itoa(n+1))
		}
	}
	return args
}

// compareProducts has lists of all small sizes, and groups of their combinations.
func compareProducts() []comparison {
	var cases []comparison
	add := func(sizes ...int) {
		c := comparison{name: fmt.Sprint(sizes), script: `words -j1 show "$@"; ended`, args: slices.Concat(strings.Fields("{} {1} {2} {3} {2}-{1} {#}"), lists(sizes...))}
		if slices.Contains(sizes, 0) && slices.Max(sizes) > 0 {
			c.differs, c.want = "a list without items makes no jobs; parallel takes it for one empty item", "succeeded\n"
		}
		cases = append(cases, c)
	}
	for i := range 3 {
		add(i)
		for j := range 3 {
			add(i, j+i&1)
		}
	}
	for n := range 8 {
		add(1+n&1, 2+n>>1&1, 1+n>>2)
	}
	add(1, 0, 2)
	for i := 1; i < 4; i++ {
		cases = append(cases,
			comparison{name: "groups", script: `words -j1 $group "$@"`, args: slices.Concat([]string{strconv.Itoa(i), "show", "{}", "{1}", "{3}"}, lists(2, i))},
			comparison{name: "no placeholder", script: `words -j1 show "$@"`, args: lists(i, 2)},
		)
	}
	return cases
}

// compareFiles has one to three files, standard input among them, with and without lists.
func compareFiles() []comparison {
	var cases []comparison
	add := func(list string, names ...string) {
		flags := "-a " + strings.Join(names, " -a ")
		c := comparison{name: flags, stdin: "s\nt\n", script: fmt.Sprintf(`words -j1 %s show {1} {2} {3} %s; ended`, flags, list)}
		if slices.Contains(names, "none") && len(names)+len(list) > 1 {
			c.differs, c.want = "a file without items makes no jobs; parallel takes it for one empty item", "succeeded\n"
		}
		cases = append(cases, c)
	}
	names := []string{"ab", "cde", "one", "none", "blank", "odd", "-"}
	for i, name := range names {
		add("", name)
		add("::: x y", name)
		add("", name, names[(i+1)%len(names)])
	}
	add("::: x", "ab", "-", "cde")
	add("", "-", "ab", "cde")
	return append(cases,
		comparison{name: "missing", script: `words -j1 -a missing show; ended`},
		comparison{name: "list and unused input", script: `words -j1 show ::: x; cat`, stdin: "s\nt\n"},
		comparison{name: "input of jobs", script: `script -j1 'cat; echo {}' ::: x y`, stdin: "s\nt\n"},
		comparison{name: "nothing", script: `words show; ended`},
	)
}

// compareGroups has up to six items in groups of up to four.
func compareGroups() []comparison {
	var cases []comparison
	for n := 1; n <= 4; n++ {
		for _, items := range []int{0, 1, 4, 5, 6} {
			cases = append(cases, comparison{name: fmt.Sprint(items, " by ", n), script: `words -j1 $group "$@" show {} {1} {2} {-1} x{}y {.} {#}`,
				args: []string{strconv.Itoa(n)}, stdin: numbers(items)})
		}
		cases = append(cases,
			comparison{name: "-n", script: `words -j1 -n "$@"`, args: slices.Concat([]string{strconv.Itoa(n), "show", "a"}, lists(5))},
			comparison{name: "-n and {}", script: `words -j1 -n "$@"`, args: slices.Concat([]string{strconv.Itoa(n), "show", "{}", "{2}"}, lists(5))},
			comparison{name: "script", script: `script -j1 $group "$@" show {} {1.} {/}`, args: []string{strconv.Itoa(n)}, stdin: strings.Join(testfiles.OddNames[:3], "\n")},
			comparison{peer: "xargs", name: "-n", script: `words -n "$@" show a`, args: []string{strconv.Itoa(n)}, stdin: numbers(5)},
		)
	}
	return append(cases, comparison{name: "-n and text around", script: `words -j1 -n 2 show x{}y ::: 1 2 3`,
		differs: "each item has its x and y, as with parallel's -N; parallel's -n is as its -m", want: "[x1y][x2y]\n[x3y]\n"})
}

// numbers returns the lines 1 to n.
func numbers(n int) string {
	s := ""
	for i := range n {
		s += strconv.Itoa(i+1) + "\n"
	}
	return s
}

// compareFit spreads up to nine items over up to four jobs.
func compareFit() []comparison {
	var cases []comparison
	for jobs := 1; jobs <= 4; jobs++ {
		for _, items := range []int{1, 4, 5, 7, 9} {
			c := comparison{name: fmt.Sprint(items, " on ", jobs), script: `words -X "$@"`,
				args: slices.Concat([]string{"-j", strconv.Itoa(jobs), "show", "{}", "x{.}y"}, lists(items))}
			if even := spread(items, jobs, true); even != spread(items, jobs, false) {
				c.differs, c.want = "the numbers of items differ by one at most; parallel fills the first jobs", even
			}
			cases = append(cases, c)
		}
	}
	return append(cases,
		comparison{name: "columns", script: `words -j1 -X --colsep , show {} x{}y`, stdin: "a,b\nc\nd,e\n"},
		comparison{name: "at most two", script: `words -j1 -X -n 2 show {}`, stdin: numbers(5)},
		comparison{name: "script", script: `script -j1 -X show {} {/}`, stdin: "a b\nc'd\ne/f\n"},
	)
}

// spread returns what show prints if jobs share the items: evenly, or as many a job as the
// longest must have.
func spread(items, jobs int, even bool) string {
	s, most := "", (items-1)/jobs+1
	for n := 0; n < items; jobs-- {
		if even {
			most = (items-n-1)/jobs + 1
		}
		var whole, part string
		for range min(most, items-n) {
			n++
			whole += fmt.Sprintf("[a%d]", n)
			part += fmt.Sprintf("[xa%dy]", n)
		}
		s += whole + part + "\n"
	}
	return s
}

// compareColumns has separators, and lines that have them in all ways.
func compareColumns() []comparison {
	var lines strings.Builder
	for _, text := range []string{",", ",;", "\t", "  ", "|", ", ", "12", "ab"} {
		for _, line := range []string{"u_v_w", "_v", " u __ v "} {
			lines.WriteString(strings.ReplaceAll(line, "_", text) + "\n")
		}
	}
	var cases []comparison
	for _, sep := range []string{",", `\t`, " +", "[,;]", `\|`, ", *", "[0-9]+", "ab?"} {
		for _, flag := range []string{"$trim", "$keep"} {
			cases = append(cases, comparison{name: sep + " " + flag, args: []string{sep}, stdin: lines.String(), script: `words -j1 ` + flag + ` --colsep "$1" show {1} {2} {3} {} {1.}`})
		}
		cases = append(cases, comparison{name: sep, args: []string{sep}, script: `words -j1 $keep --colsep "$1" show {1} {2} {3} {4} ::: 'u,v;w' 'x y|z' ::: '1.2 ab' 'm'`})
	}
	return append(cases,
		comparison{name: "spaces", script: `words -j1 --colsep , show {1} {2}`, stdin: "a , b\n"},
		comparison{name: "trailing", script: `words -j1 --colsep , show {1} {2}`, stdin: "a,b,\n,\na,,\n"},
		comparison{name: "groups", script: `words -j1 --colsep , $group 2 show {1} {2} {3} {}`, stdin: "a,b\nc,d\ne\n"},
		comparison{name: "script", script: `script -j1 --colsep , 'show {1} {2} {}'`, stdin: "a b,it's\n$c,\"d\"\n"},
		comparison{name: "trim", script: `words -j1 $trim show {} {.}`, stdin: "  a b \n\tc\t.x \n \n"},
		comparison{name: "trim", script: `words -j1 $trim show {} {.} ::: ' a' 'b ' ' ' c`},
	)
}

// compareDelimiters has each delimiter on inputs with and without it.
func compareDelimiters() []comparison {
	var cases []comparison
	for _, d := range []string{",", ";", `\n`, `\t`, `\0`, " ", "x", `\\`, `\r`, "|", "."} {
		c := comparison{name: d, args: []string{"-d", d}, script: `words -j1 "$@" show {}`, stdin: "a,b;c\nd\te f,gxh\\i\rj,\n,,k\n"}
		if d == `\0` {
			c.stdin = "a\x00b\nc\x00\x00d"
		}
		if d == `\\` {
			c.differs, c.want = "it is one backslash, as in xargs", "[a,b;c\nd\te f,gxh]\n[i\rj,\n,,k\n]\n"
		}
		cases = append(cases, c, comparison{name: d, args: []string{"-d", d}, script: `words "$@" -n 1 show`, stdin: c.stdin, peer: "xargs"})
	}
	return append(cases,
		comparison{name: "NUL", script: `words -j1 -0 show {}`, stdin: "a\nb\x00\x00c d"},
		comparison{name: "NUL in a file", script: `printf 'a\0b' > nul; words -j1 -0 -a nul show {}`},
		comparison{name: "NUL", peer: "xargs", script: `words -0 -n 1 show`, stdin: "a\nb\x00\x00c d"},
		comparison{name: "file", script: `words -j1 -d , -a ab show {}`},
	)
}

// compareReplace has texts that stand for the item.
func compareReplace() []comparison {
	var cases []comparison
	for _, text := range []string{"{}", ",,", "%", "X", "@@", "FILE", "{.}", "+"} {
		args := slices.Concat([]string{"-I", text}, strings.Split(strings.ReplaceAll("show,_,a_b,__,{},{},x", "_", text), ","))
		if text == ",," {
			args = []string{"-I", ",,", "show", ",,", "a,,b", ",,,,", "{}", ",,,"}
		}
		for _, peer := range []string{"parallel", "xargs"} {
			cases = append(cases, comparison{name: text, peer: peer, script: `words "$@"`, args: args, stdin: "a.b\nc d\n"})
		}
		cases = append(cases, comparison{name: text + " and others", script: `words -j1 "$@"`, args: append(args, "{/}", "{#}", "{//}"), stdin: "a/b.c\n"})
	}
	return append(cases,
		comparison{name: "unused", script: `words -j1 -I ,, show a`, stdin: "x\ny\n"},
		comparison{name: "numbers", script: `words -j1 -I ,, show {1} {1.} ,,`, stdin: "x.y\n",
			differs: "{1} means the first item with -I, too; parallel knows only {1.} then", want: "[x.y][x][x.y]\n"},
		comparison{name: "blanks", peer: "xargs", script: `words -I{} show {}`, stdin: "  a b \n",
			differs: "a line is an item as it is; xargs removes blanks before it", want: "[  a b ]\n"},
		comparison{name: "quotes", peer: "xargs", script: `words -I{} show {}`, stdin: "a\\ b 'c d' \"e\"\n",
			differs: "a line is an item as it is; xargs reads quotes", want: "[a\\ b 'c d' \"e\"]\n"},
		comparison{name: "unused", peer: "xargs", script: `words -I{} show a`, stdin: "x\n",
			differs: "without a placeholder the item is appended; xargs -I drops it", want: "[a][x]\n"},
		comparison{name: "one each", peer: "xargs", script: `words show`, stdin: "x\ny\n",
			differs: "a job has one item; xargs gives it all, as -X does here", want: "[x]\n[y]\n"},
		comparison{name: "words of a line", peer: "xargs", script: `words -n 1 show`, stdin: "x y\n",
			differs: "a line is an item; xargs splits it at blanks", want: "[x y]\n"},
		comparison{name: "no items", peer: "xargs", script: `words show a`,
			differs: "without items there is no job; xargs has one unless -r is given", want: ""},
		comparison{name: "no items", peer: "xargs", script: `words -r show a`},
		comparison{name: "all", peer: "xargs", script: `if [ "$group" ]; then words -X -P 1 show; else words show; fi`, stdin: "x\ny\n"},
	)
}

// compareLines has lines that are commands.
func compareLines() []comparison {
	commands := "echo a; echo b\nshow 'x  y' \"$((1+2))\" \\\\ *b\nexit 3\nfalse || echo c\necho d | tr d e\n# nothing\nx=5; echo $x\ncat < ab\n(exit 4)\n\necho last"
	return []comparison{
		{name: "input", script: `lines -j1; ended`, stdin: commands},
		{name: "file", script: `cat > f; lines -j1 -a f; ended`, stdin: commands},
		{name: "list", script: `lines -j1 ::: "$@"; ended`, args: strings.Split(commands, "\n")},
		{name: "NUL", script: `lines -j1 -0; ended`, stdin: "echo a\necho b\x00echo c\x00"},
		{name: "log", script: `lines -j1 --joblog log; log log`, stdin: commands},
		{name: "dry", script: `lines -j1 --dry-run`, stdin: commands},
		{name: "product", script: `lines -j1 ::: echo show ::: a 'b c'; ended`},
		{name: "groups", script: `lines -j1 -n 2; ended`, stdin: "echo a\necho b\n"},
		{name: "placeholders", script: `lines -j1`, stdin: "echo {} {#}\n"},
		{name: "crlf", script: `lines -j1 | od -c`, stdin: "echo a\r\n"},
	}
}

// shellTexts are commands for the shell that are safe for every item in both programs.
var shellTexts = []string{
	`show {}`, `show {} {}`, `show a{}b {.}`, `echo {} | tr a-z A-Z`, `x={}; show "$x"`, `for i in 1 2; do show $i {}; done`,
	`show $(echo {})`, `if [ {} = plain ]; then echo yes; else echo no; fi`, `show {#} {%}`, `cat <<< {}`, `f() { show "$@"; }; f {} {/}`,
	`show {} > out.{#}; cat out.{#}`, `show $((1 + {#}))`, `false || show {}`, `show {} && false; show $?`, `{ show {}; }`, `! show {}`, `[[ {} == plain ]] && show {}; true`,
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
		comparison{name: "variables", script: `export V='x  y'; script -j1 'show "$V" {}' ::: 'a b' c`},
		comparison{name: "products", script: `script -j1 'show {2} {1}; show {}' ::: 'a b' c ::: "it's" '$d'`},
	)
}
