package main

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// A oneliner is a command line as people publish it.
type oneliner struct {
	about  string
	text   string // for bash, with parallel or xargs
	change string // what else than the program's name changes: "-s", or old => new; "": nothing
	why    string // of another change than -s
	sorted bool   // the order of the output is not compared
}

// world makes the files that they work on.
const world = `
	mkdir backup copy data dump logs out photos repos small src t z
	for i in 1 2 3; do
		echo "old $i" > src/$i.txt
		seq $i > "data/file $i"
		for n in 1 2 3; do echo "$n ERROR $i"; done > logs/$i.log
		gzip -nc logs/$i.log > z/$i.gz
		echo photo > photos/$i.png
		echo sound > photos/$i.wav
		printf 'echo %s\n' $i > t/$i.sh
		git init -q -b main repos/$i
		git -C repos/$i -c user.name=n -c user.email=e commit -q --allow-empty -m "commit $i" --date 2020-01-01T00:00:00Z
	done
	echo 'bad; exit 3' > t/4.sh
	printf 'http://h/%s.html\n' a b c > urls.txt
	printf 'Smith,Ann,3\nJones,"Bob",5\n' > people.csv
	printf 'echo one\necho "t  wo" > two\nfalse || echo three\n' > jobs.txt
	seq 5000 > big
	find . -exec touch -h -d 2020-01-01 {} +
`

// standIns are programs of the one-liners that print, or write to their last argument, how
// they were called.
var standIns = map[string]string{
	"convert":    `for last; do :; done; echo convert "$*" > "$last"`,
	"ffmpeg":     `cat > input; rm input; for last; do :; done; echo ffmpeg "$*" > "$last"`,
	"curl":       `for last; do :; done; echo page of "$last" > got.$(basename "$last"); echo curl "$*"`,
	"ssh":        `echo "$@"; cat; [ "$1" != db1 ]`,
	"shellcheck": `for f; do if grep -q bad "$f"; then echo "$f: bad"; exit 1; fi; done`,
	"go":         `case $1 in list) printf 'm/%s\n' a b c;; *) echo ok "$@"; [ "$2" != m/b ];; esac`,
	"mysqldump":  `echo "dump of $1"`,
}

var oneliners = []oneliner{
	{about: "backup", text: `ls -d src/*.txt | parallel 'tar -cf backup/{/}.tar {}'`, change: "-s"},
	{about: "images", text: `parallel convert {} -resize 50% small/{/} ::: photos/*.png`},
	{about: "download", text: `parallel -j 4 curl -sf -o {#}.html {} :::: urls.txt`, change: ":::: urls.txt => ", why: "files of items come by -a", sorted: true},
	{about: "lint", text: `find t -name '*.sh' -print0 | xargs -0 -P 4 -n 1 shellcheck`},
	{about: "tests", text: `go list ./... | parallel -k -j 2 go test {}`},
	{about: "tests", text: `seq 0 3 | parallel -k 'SHARD={} SHARDS=4 bash -c "echo \$SHARD of \$SHARDS"'`, change: "-s"},
	{about: "git", text: `find repos -name .git -type d | sort | parallel -k 'cd {//} && git log --oneline | wc -l'`, change: "-s"},
	{about: "hosts", text: `parallel -k --tag ssh {} uptime ::: web1 web2`},
	{about: "gzip", text: `ls logs/*.log | parallel 'gzip -nc {} > {.}.gz'`, change: "-s"},
	{about: "gzip", text: `parallel -k --tag 'zcat {} | grep -c ERROR' ::: z/*.gz`, change: "-s"},
	{about: "ffmpeg", text: `for f in photos/*.wav; do echo "$f"; done | xargs -P 2 -I{} sh -c 'ffmpeg -i "{}" "out/$(basename "{}" .wav).mp3"'`},
	{about: "sums", text: `find data -type f -print0 | sort -z | parallel -0 -k md5sum > SUMS`},
	{about: "functions", text: `work() { echo "$1" | tr a-z A-Z > "out/$(basename "$1")"; }; export -f work; parallel work ::: src/*.txt`, change: "parallel work => parallel -s 'work {}'", why: "nothing is appended to a script"},
	{about: "sed", text: `grep -rl old src | xargs -P 4 sed -i s/old/new/g`},
	{about: "wc", text: `parallel --pipe --block 4k wc -l < big | awk '{n += $1} END {print n}'`},
	{about: "awk", text: `parallel -k -q awk '{n += $1} END {print FILENAME, n}' ::: data/*`},
	{about: "loops", text: `seq 9 | parallel -k -N 3 echo {1} {2} {3}`},
	{about: "csv", text: `cat people.csv | parallel -k --colsep ',' 'echo "{1}: {3}" > out/{1}; cat out/{1}'`, change: "-s"},
	{about: "jobs", text: `parallel -k --joblog log -j 1 < jobs.txt; parallel -k --joblog log --resume < jobs.txt; cut -f 1,5- log > columns; rm log`},
	{about: "databases", text: `printf '%s\n' users orders | parallel 'mysqldump {} | gzip -n > dump/{}.sql.gz'`, change: "-s"},
	{about: "rename", text: `parallel --dry-run mv {} {.}.bak ::: data/* | sh`},
	{about: "progress", text: `parallel --progress gzip -n ::: src/*.txt 2> /dev/null`, change: "--progress => --progress=always", why: "--progress says when"},
}

var program = regexp.MustCompile(`\b(parallel|xargs)\b`)

// ours returns the command line for stint, with its change or without it.
func (o *oneliner) ours(changed bool) string {
	old, replacement, found := strings.Cut(o.change, " => ")
	text, name := o.text, "stint run"
	switch {
	case !changed:
	case !found && o.change != "":
		name += " " + o.change
	case strings.HasPrefix(old, ":::: "):
		name += " -a " + strings.TrimPrefix(old, ":::: ")
		fallthrough
	default:
		text = strings.Replace(text, old, replacement, 1)
	}
	return program.ReplaceAllString(text, name)
}

// effect returns what a command line does: its output, whether it succeeds, and the files
// that it leaves.
func (o *oneliner) effect(t *testing.T, b *bench, world, text string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "world")
	must(t, exec.Command("cp", "-a", world, dir).Run())
	cmd := exec.CommandContext(t.Context(), "timeout", "-k", "5", "60", "bash", "-c", text)
	cmd.Dir, cmd.Env = dir, b.env
	out, err := cmd.Output()
	lines := strings.SplitAfter(string(out), "\n")
	if o.sorted {
		slices.Sort(lines)
	}
	lines = append(lines, "\n--- succeeded: ", map[bool]string{true: "yes\n", false: "no\n"}[err == nil])
	must(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		lines = append(lines, "--- "+strings.TrimPrefix(path, dir)+"\n", string(content), "\n")
		return err
	}))
	return strings.Join(lines, "")
}

// TestOneliners runs one-liners with stint, and wants the effects that they had.
func TestOneliners(t *testing.T) {
	b := newBench(t)
	for name, text := range standIns {
		must(t, os.WriteFile(filepath.Join(b.bin, name), []byte("#!/bin/sh\n"+text+"\n"), 0o777))
	}
	dir := t.TempDir()
	cmd := exec.Command("bash", "-ec", world)
	cmd.Dir, cmd.Env = dir, append(b.env, "GIT_COMMITTER_DATE=2020-01-01T00:00:00Z")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, o := range oneliners {
		t.Run(o.about, func(t *testing.T) {
			t.Parallel()
			want := o.effect(t, b, dir, strings.ReplaceAll(o.text, "parallel", "parallel --will-cite"))
			text := o.ours(true)
			if got := o.effect(t, b, dir, text); got != want {
				t.Errorf("%s\nas %s: the effect %s", o.text, text, difference(got, want))
			}
			if o.change != "" && o.effect(t, b, dir, o.ours(false)) == want {
				t.Errorf("%s runs without the change %s; the table says: %s", o.text, o.change, o.why)
			}
		})
	}
}
