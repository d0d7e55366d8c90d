package main

import (
	"fmt"
	"strconv"
	"strings"
)

// compareStatus has jobs that fail in all ways.
func compareStatus() []comparison {
	const signals = `1 2 3 4 6 8 9 10 11 12 13 15 24`
	cases := []comparison{
		{name: "all", script: `script -j1 --joblog log 'exit {}' ::: {0..74} {76..255}; ended; log log | cut -f 1,4-6`},
		{name: "signals", script: `ulimit -c 0; script -j1 --joblog log 'echo {}; kill -{} $$' ::: ` + signals + `; ended; log log | cut -f 1,4-6`},
		{name: "signals, without shell", script: `ulimit -c 0; words -j1 --joblog log sh -c 'kill -$1 $$' sh ::: ` + signals + `; ended; log log | cut -f 1,4-6`},
		{name: "later", script: `script -j1 $at_once 'echo >> n {}; exit 75' ::: a; ended; wc -l < n`,
			differs: "a job that exits with 75 is tried again ten times", want: "failed\n11\n"},
		{name: "found by the job", script: `: > plain; words -j1 --joblog log {} ::: true nonesuch ./plain ./none/x false; ended; log log | cut -f 1,5-6`},
		{name: "found nowhere", script: `words -j1 nonesuch ::: a b; echo $?`, differs: "no job starts; parallel counts the jobs that the shell failed", want: "127\n"},
		{name: "not executable", script: `: > plain; words -j1 ./plain ::: a b; echo $?`, differs: "no job starts; parallel counts the jobs that the shell failed", want: "126\n"},
		{name: "usage", script: `words --nonesuch true ::: a; echo $?`, differs: "2 is a wrong command line; for parallel it is 255", want: "2\n"},
		{peer: "xargs", name: "255", script: `words -P 1 -I{} sh -c 'echo {}; exit {}'; ended`, stdin: "1\n255\n2\n",
			differs: "255 is a status as any; xargs stops", want: "1\n255\n2\nfailed\n"},
		{peer: "xargs", name: "signal", script: `words -P 1 -I{} sh -c 'echo {}; kill -{} $$'; ended`, stdin: "15\n9\n",
			differs: "a signal fails a job; xargs stops", want: "15\n9\nfailed\n"},
	}
	for failed := range 5 {
		c := comparison{name: fmt.Sprint(failed, " fail"), script: `script -j1 '[ {} -gt ` + strconv.Itoa(failed) + ` ]' ::: 1 2 3 4; echo $?`, want: "1\n"}
		if failed > 1 {
			c.differs = "1 says that jobs have failed; parallel counts them"
		}
		cases = append(cases, c, comparison{peer: "xargs", name: c.name, script: `words -n 1 -P 1 sh -c 'exec [ $1 -gt ` + strconv.Itoa(failed) + ` ]' sh; ended`, stdin: numbers(4)})
	}
	return cases
}

// compareLog has the columns of --joblog and the order of its lines.
func compareLog() []comparison {
	return []comparison{
		{name: "output", script: `script -j1 --joblog log 'head -c {} /dev/zero' ::: 0 1 100 65536 300000 | wc -c; log log | cut -f 1-6`},
		{name: "messages", script: `script -j1 --joblog log 'echo {} >&2' ::: abc 2> /dev/null; log log | cut -f 1-6`},
		{name: "input", script: `lines -j1 --pipe --joblog log cat; log log`, stdin: numbers(1000)},
		{name: "commands", script: `words -j1 --joblog log show a ::: b 'c d' '$e' 'f;g' '*' '' '#' '~h' '"i"' 'j\k' '(l)' m=n; log log`},
		{name: "commands of columns", script: `words -j1 --colsep , --joblog log show {2} {1} ::: a,b 'c d,e'; log log`},
		{name: "commands run again", script: `words -j1 -0 --joblog log show; tail -n +2 log | cut -f 9- > again; echo; bash again`,
			stdin: strings.Join(oneLine(oddPaths()), "\x00")},
		{name: "commands for the shell", script: `script -j1 --joblog log 'show {} | cat' ::: 'a b'; log log | cut -f 7`,
			differs: "a script and its items; parallel has the text that it was made to", want: "[a b]\nCommand\n'show \"${1}\" | cat' 'a b'\n"},
		{name: "order", script: `unordered -j2 --joblog log '[ {} = b ] || until grep -q b$ log; do sleep 0.1; done; : {}' ::: a b; log log | cut -f 1`},
		{name: "overwritten", script: `words -j1 --joblog log show ::: a b; words -j1 --joblog log show ::: c; log log`},
		{name: "killed", script: `unordered -j2 --joblog log --halt now,fail=1 '[ {} = b ] || { touch a; sleep 60; }; until [ -e a ]; do sleep 0.1; done; exit 3' ::: a b; echo $?; log log | cut -f 1,5-6 | sort`},
	}
}

// compareHalt ends runs early. A job prints its exit status.
func compareHalt() []comparison {
	halt := func(when, jobs string) string {
		return `script -j1 --halt ` + when + ` 'echo {}; exit {}' ::: ` + jobs + `; echo status $?`
	}
	const differs = "the exit status is 1, or that of the job that halts the run; parallel counts those that failed"
	return []comparison{
		{script: halt("soon,fail=1", "0 7 8 0")},
		{script: halt("now,fail=1", "3 0 4")},
		{script: halt("now,fail=2", "3 0 4 0 5"), differs: differs, want: "3\n0\n4\nstatus 4\n"},
		{script: halt("soon,success=1", "3 0 4")},
		{script: halt("now,success=2", "3 0 4 0 5")},
		{name: "now kills", script: `unordered -j2 --halt now,fail=1 'if [ {} = a ]; then until [ -e b ]; do sleep 0.1; done; exit 4; fi; echo {}; touch {}; sleep 60; touch survived' ::: a b c; echo $?; ls survived c`},
		{name: "soon waits", script: `script -j2 --halt soon,fail=1 'if [ {} = a ]; then until [ -e b ]; do sleep 0.1; done; exit 4; fi; touch {}; sleep 1; echo {}' ::: a b c; echo $?`},
		{name: "first to succeed", script: `unordered -j2 --halt now,success=1 'if [ {} = b ]; then until [ -e a ]; do sleep 0.1; done; echo b; exit; fi; touch a; sleep 60' ::: a b c; echo $?`},
		{name: "signal", script: `script -j1 --halt now,fail=1 'echo {}; kill -9 $$' ::: a b; echo $?`},
		{name: "retries", script: `script -j1 $(tries 2) --halt now,fail=1 'echo {} >> ran; exit {}' ::: 0 3 0; echo $?; cat ran`},
		{name: "done", script: `script -j1 --halt now,done=1 'echo {}' ::: a b; echo $?`, differs: "only fail and success", want: "2\n"},
	}
}

// compareResume runs a command twice with one log.
func compareResume() []comparison {
	var cases []comparison
	const jobs = `'echo {}; [ -e again ] || exit $(({} %% 3))'`
	for _, first := range []string{"::: 1 2 3 4 5 6", "--halt now,fail=1 ::: 3 6 1 2 4", "--halt soon,success=1 ::: 1 2 3 4"} {
		for _, flag := range []string{"", "--resume", "--resume-failed"} {
			for _, between := range []string{":", "touch again"} {
				flags, list, _ := strings.Cut(first, ":::")
				second := "1 2 3 4 5 6"
				if strings.Contains(first, "soon") || strings.Contains(first, "now") {
					second = list
				}
				script := fmt.Sprintf(`script -j1 --joblog log %s `+jobs+` ::: %s; ended; %s; script -j1 --joblog log %s `+jobs+` ::: %s; ended; log log | cut -f 1,5,6`,
					flags, list, between, flag, second)
				cases = append(cases, comparison{name: first + " " + flag + " " + between, script: script})
			}
		}
	}
	return append(cases,
		comparison{name: "one more in front", script: `words -j1 --joblog log show ::: b c; words -j1 --joblog log --resume show ::: a b c`,
			differs: "a job is known by its command; parallel knows it by its number", want: "[b]\n[c]\n[a]\n"},
		comparison{name: "another command", script: `words -j1 --joblog log show a ::: b c; words -j1 --joblog log --resume show x ::: b c`,
			differs: "a job is known by its command; parallel knows it by its number", want: "[a][b]\n[a][c]\n[x][b]\n[x][c]\n"},
		comparison{name: "the same item twice", script: `words -j1 --joblog log show ::: b; words -j1 --joblog log --resume show ::: b b`},
		comparison{name: "numbers go on", script: `words -j1 --joblog log show {#} ::: a b; words -j1 --joblog log --resume show {#} ::: a b c; log log | cut -f 1`},
		comparison{name: "without log", script: `words -j1 --resume show ::: a; ended`},
	)
}

// compareAttempts has --retries and --timeout.
func compareAttempts() []comparison {
	var cases []comparison
	for n := 1; n <= 5; n++ {
		cases = append(cases, comparison{name: strconv.Itoa(n), script: fmt.Sprintf(
			`script -j1 --joblog log $(tries %d) 'echo {}; echo >> n{}; [ $(wc -l < n{}) -gt {} ]' ::: 0 1 2 3 4; ended; wc -l n?; log log | cut -f 1,4-6`, n)})
	}
	return append(cases,
		comparison{name: "timeout", script: `words -j4 --timeout 1 --joblog log sleep ::: 0 60 0.01 61; ended; log log | sort -n | cut -f 1,4-`},
		comparison{name: "output of what timed out", script: `script --timeout 1 'echo a; sleep 60; echo b' ::: x; ended`},
		comparison{name: "attempts that time out", script: `script --timeout 1 --joblog log $(tries 2) 'echo >> n; sleep 60; : {}' ::: x; ended; wc -l < n; log log | cut -f 1,5-6`},
		comparison{name: "what a job leaves", script: `script 'sh -c "sleep 1.4; touch survived" > /dev/null 2>&1 & echo {}' ::: x; sleep 2; ls survived`,
			differs: "the processes that a job leaves are ended; parallel lets them run", want: "x\n"},
	)
}

// outputs are commands whose output is odd.
var outputs = []string{
	`echo a; echo b`, `printf "a\nb"`, `true`, `printf a; sleep 0.01; printf "b\nc"; echo`, `echo; echo; printf "\n\nx"`, `printf "\377\001\n\200"`,
	`echo a; exit 3`, `head -c 200000 /dev/zero | tr "\0" x; echo`, `printf "\0\n\0"`,
}

// compareOutput has --tag, --line-buffer, --ungroup and --dry-run.
func compareOutput() []comparison {
	odd := strings.Join(oneLine(oddPaths()), "\x00")
	var cases []comparison
	for _, flag := range []string{"", "--tag", "--line-buffer", "--tag --line-buffer", "--ungroup"} {
		cases = append(cases, comparison{name: flag, script: `script -j1 ` + flag + ` 'eval {}' ::: "$@"; ended`, args: outputs})
	}
	return append(cases,
		comparison{name: "tags", script: `words -j1 -0 --tag show x`, stdin: strings.ReplaceAll(odd, "\r", "")},
		comparison{name: "returns", script: `words -j1 --tag printf "a\rb\n" ::: c`, differs: "a line ends in a newline; for parallel in a carriage return, too", want: "c\ta\rb\n"},
		comparison{name: "tags of groups", script: `words -j1 --tag $group 2 show {1} ::: a 'b c' d`},
		comparison{name: "tags of messages", script: `script -j1 --tag 'echo e{} >&2' ::: a b 2>&1`},
		comparison{name: "order", script: `script -j2 'if [ {} = a ]; then until [ -e b ]; do sleep 0.1; done; fi; echo {}; touch {}' ::: a b`},
		comparison{name: "no order", script: `unordered -j2 --joblog log 'if [ {} = a ]; then until grep -q "b$" log; do sleep 0.1; done; fi; echo {}; : {}' ::: a b`},
		comparison{name: "lines as they come", script: `tail -n 1 <(unordered_lines -j2 'if [ {} = a ]; then echo a; touch a; until [ -e b ]; do sleep 0.5; done; echo a; else until [ -e a ]; do sleep 0.1; done; echo b; touch b; fi' ::: a b)`},
		comparison{name: "dry run", script: `words -j1 --dry-run show a ::: b 'c d' '$e' 'f;g' '*' '' '#' '~h' '"i"' 'j\k' '(l)' m=n {x}`},
		comparison{name: "dry run, then run", script: `words -j1 -0 --dry-run show {} {.} > dry; bash dry`, stdin: odd},
		comparison{name: "dry run of a script, then run", script: `script -j1 -0 --dry-run 'show {} {.} x{/}y | cat' > dry; bash dry`, stdin: odd},
		comparison{name: "dry run does nothing", script: `script -j1 --dry-run 'touch {}' ::: new > dry; ended; ls`},
		comparison{name: "blocks", script: `lines -j1 --pipe --block 1k cat | md5sum`, stdin: numbers(2000)},
		comparison{name: "nice", script: `lines -j1 --nice 5 ::: nice`},
		comparison{name: "results", script: `script -j1 --results out 'echo {}; exit 3' ::: a; find out | sort`,
			differs: "a directory a job, by number; parallel has one by the items", want: "a\nout\nout/1\nout/1/status\nout/1/stderr\nout/1/stdout\n"},
	)
}
