package main

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A comparison is a script for bash that "stint run" and other programs of its kind run, each
// in a directory of its own. The functions of preludes stand for the programs. What the
// script prints is compared; messages are not.
type comparison struct {
	name   string
	script string
	args   []string // "$@"
	stdin  string
	peer   string // the other program; "" is parallel, for GNU's

	// If stint run differs deliberately, why it does, and what it prints.
	differs, want string
}

// preludes define, for each program:
//
//	words   runs a command whose words are arguments, as they are
//	script  runs a command that is text for the shell
//	unordered, unordered_lines  are script, with output as jobs end, and as lines come
//	at_once  are the flags for attempts without a wait
//	tries N is the flags for at most N attempts of a job
//	group   is the flag for N items a job, of which each has its {}
//	trim, keep  are the flags that remove white space around items, and that do not
var preludes = map[string]string{
	"stint": `words() { stint run "$@"; }; script() { stint run -s "$@"; }; lines() { stint run "$@"; }
		unordered() { script -u "$@"; }; unordered_lines() { script --line-buffer "$@"; }; at_once="--retry-delay 1ms"; tries() { echo --retries $(($1 - 1)); }; group=-n; trim=--trim; keep=--trim=false`,
	"parallel": `words() { parallel --will-cite -k -q "$@"; }; script() { lines "$@"; }; lines() { parallel --will-cite -k "$@"; }
		unordered() { parallel --will-cite "$@"; }; unordered_lines() { parallel --will-cite --line-buffer "$@"; }; tries() { echo --retries $1; }; group=-N; trim="--trim lr"; keep="--trim n"`,
	"xargs": `words() { xargs "$@"; }`,
}

// tools are functions of all programs.
//
//	ended  says whether the last command succeeded
//	log    prints a job log without its times
const tools = `
	ended() { if [ $? = 0 ]; then echo succeeded; else echo failed; fi; }
	log() { cut -f 1,2,5- "$@"; }
`

// A bench has what all comparisons need.
type bench struct {
	bin string // a directory of programs
	env []string
}

// executables are programs for the scripts.
var executables = map[string]string{
	// prints its arguments
	"show": "#!/bin/sh\nprintf '[%s]' \"$@\"\necho\n",
}

// newBench returns a bench, or skips the test if the programs are not installed whose
// behaviour the tables have.
func newBench(t *testing.T) *bench {
	if testing.Short() {
		t.Skip("starts Perl many times")
	}
	out, err := exec.Command("parallel", "--version").Output()
	if err != nil || !strings.HasPrefix(string(out), "GNU parallel 20221122\n") {
		t.Skip("GNU parallel 20221122 is not installed: nothing to compare with")
	}
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("bash is not installed")
	}
	dir := t.TempDir()
	bin := filepath.Join(dir, "bin")
	must(t, os.Mkdir(bin, 0o777))
	for name, text := range executables {
		must(t, os.WriteFile(filepath.Join(bin, name), []byte(text), 0o777))
	}
	b := &bench{bin: bin, env: append(os.Environ(), "HOME="+dir, "PATH="+bin+":"+os.Getenv("PATH"), "LC_ALL=C.UTF-8",
		"PARALLEL=", "PARALLEL_SHELL="+bash, "STINT_SHELL="+bash, "SHELL="+bash, "GORACE=atexit_sleep_ms=0")}
	b.observe(t, "parallel", &comparison{script: "lines :::"}) // parallel measures the system once
	return b
}

// fixtures are the files of each comparison.
var fixtures = map[string]string{"ab": "a\nb\n", "cde": "c\nd\ne", "one": "1\n", "none": "", "blank": "\nx\n\n", "odd": "a b\n  c \n'd\"\n\\e\n"}

// observe returns what a program prints.
func (b *bench) observe(t *testing.T, program string, c *comparison) string {
	t.Helper()
	args := []string{"-k", "5", "60", "bash", "-c", preludes[program] + tools + c.script, "bash"}
	cmd := exec.CommandContext(t.Context(), "timeout", append(args, c.args...)...) // so that what hangs is one failure
	cmd.Dir, cmd.Env, cmd.Stdin = t.TempDir(), b.env, strings.NewReader(c.stdin)
	for name, text := range fixtures {
		must(t, os.WriteFile(filepath.Join(cmd.Dir, name), []byte(text), 0o666))
	}
	var out, errs strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &errs
	_ = cmd.Run() // the script prints the exit status where it matters
	if t.Cleanup(func() {
		if t.Failed() {
			t.Logf("%s: messages %q", program, &errs)
		}
	}); t.Context().Err() != nil {
		t.Error("the test has ended")
	}
	return out.String()
}

// compare runs one comparison.
func (b *bench) compare(t *testing.T, c *comparison) {
	if c.peer == "" {
		c.peer = "parallel"
	}
	command := strings.Fields(strings.SplitAfter(preludes[c.peer], "{")[1])[0]
	if _, err := exec.LookPath(command); err != nil {
		t.Skipf("%s is not installed", command)
	}
	got, other := b.observe(t, "stint", c), b.observe(t, c.peer, c)
	want := other
	if c.differs != "" {
		want = c.want
	}
	if got != want {
		t.Errorf("%.200s\nwith %.200q\nand input %.200q\nprints what %s", c.script, c.args, c.stdin, difference(got, want))
	}
	if c.differs != "" && other == want {
		t.Errorf("%.200s\nwith %.200q is no different from %s, but the table says: %s", c.script, c.args, c.peer, c.differs)
	}
}

// TestCompare compares stint run with GNU parallel, and some of it with xargs.
func TestCompare(t *testing.T) {
	b := newBench(t)
	for _, subject := range slices.Sorted(maps.Keys(subjects)) {
		for i, c := range subjects[subject]() {
			t.Run(strings.TrimSpace(fmt.Sprint(subject, " ", i, " ", c.peer, " ", c.name)), func(t *testing.T) {
				t.Parallel()
				b.compare(t, &c)
			})
		}
	}
}
