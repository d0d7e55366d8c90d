//go:build unix

package run

import (
	"cmp"
	"io"
	"maps"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stint-go/stint/advise"
	"github.com/stint-go/stint/cmd/stint/internal/console"
	"github.com/stint-go/stint/cmd/stint/internal/run/command"
	"github.com/stint-go/stint/cmd/stint/internal/testfiles"
)

// adviserOf returns an adviser that can call the command.
func adviserOf(t *testing.T, o Options, a AdviseOptions, stdin string) *adviser {
	t.Helper()
	t.Setenv("STINT_SHELL", "sh")
	r, err := New(&o, console.Streams{Stdin: strings.NewReader(stdin), Stderr: io.Discard})
	var got *adviser
	if err == nil {
		got, err = r.newAdviser(t.Context(), a)
	}
	if err == nil {
		got.executor, err = r.newExecutor(t.Context(), nil, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	got.executor.Kill = nil
	t.Cleanup(got.executor.Close)
	return got
}

// TestAdviseLines wants a line of stint run and one of xargs, and runs the latter.
func TestAdviseLines(t *testing.T) {
	t.Chdir(t.TempDir())
	testfiles.Write(t, "a file", "it's\n")
	echo := []string{"echo", "{}"}
	for _, test := range []struct {
		o          Options
		n          int
		run, xargs string
		prints     string // sorted
	}{
		{Options{Spec: command.Spec{Command: []string{"echo", "x{}$"}}}, 2, "seq 0 1 | stint run echo 'x{}$'", "seq 0 1 | xargs -P 4 -I{} echo 'x{}$'", "x0$\nx1$\n"},
		{Options{Spec: command.Spec{Command: []string{"echo", "1"}}}, 2, "seq 0 1 | stint run -s ': {}; echo 1'", "seq 0 1 | xargs -P 4 -I{} echo 1", "1\n1\n"},
		{Options{Spec: command.Spec{Command: []string{"echo", "{.}"}}}, 2, "seq 0 1 | stint run echo '{.}'", "", ""},
		{Options{Spec: command.Spec{Command: []string{"echo", "${}"}}}, 2, `seq 0 1 | stint run -s ': {}; echo '\''${}'\'''`, "", ""},
		{Options{Spec: command.Spec{Command: []string{"echo", "x"}, Shell: true}}, 2, "seq 0 1 | stint run -s ': {}; echo x'", "", ""},
		{Options{Spec: command.Spec{Command: []string{"echo $1"}, Shell: true}}, 2, "seq 0 1 | stint run -s 'echo $1'", "", ""},
		{Options{Spec: command.Spec{Command: echo}, Null: true, Files: []string{"a file", "-"}}, 0, "stint run -0 -a 'a file' -a - echo {}", "", ""},
		{Options{Spec: command.Spec{Command: echo}, Lists: [][]string{{"a", "b  'c'"}, {"b"}}}, 0, `stint run echo {} ::: a "b  'c'" ::: b`, "", ""},
		{Options{Spec: command.Spec{Command: []string{"echo {}"}, Shell: true}, Lists: [][]string{{"a"}}}, 0, "stint run -s 'echo {}' ::: a", "", ""},
		{Options{Lists: [][]string{{"echo a"}}}, 0, "stint run ::: 'echo a'", "", ""},
		{Options{Spec: command.Spec{Command: []string{"echo", "{#}"}}, Lists: [][]string{{strings.Repeat("long ", 500)}}}, 0, "stint run echo '{#}' ::: <ITEMS>", "", ""},
	} {
		a := adviserOf(t, test.o, AdviseOptions{N: test.n}, "it's\n")
		run, xargs, _ := strings.Cut(a.lines(&advise.Report{Answer: advise.Yes, Limit: 4, Best: &advise.Model{}}), "\n")
		if run != test.run || xargs != test.xargs {
			t.Errorf("%q:\n%s\n%s\nwant\n%s\n%s", test.o.Command, run, xargs, test.run, test.xargs)
		}
		if xargs == "" {
			continue
		}
		if out, err := exec.Command("sh", "-c", xargs+" | sort").Output(); err != nil || string(out) != test.prints {
			t.Errorf("%s\nprints %q, %v; want %q", xargs, out, err, test.prints)
		}
	}
}

// TestAdviseJobs wants -j if the best number is a fixed one.
func TestAdviseJobs(t *testing.T) {
	for _, test := range []struct {
		r    advise.Report
		want string
	}{
		{advise.Report{Answer: advise.NotSure, Best: &advise.Model{Limit: 1}}, "stint run echo a"},
		{advise.Report{Answer: advise.No, Limit: 1, Best: &advise.Model{Limit: 1}}, "stint run -j 1 echo a"},
		{advise.Report{Answer: advise.Yes, Limit: 4, Best: &advise.Model{Limit: 4}}, "stint run -j 4 echo a"},
		{advise.Report{Answer: advise.Yes, Limit: 4, Best: &advise.Model{}}, "stint run echo a"},
	} {
		a := adviserOf(t, Options{Spec: command.Spec{Command: []string{"echo", "a"}}}, AdviseOptions{}, "b\n")
		if got, _, _ := strings.Cut(a.lines(&test.r), "\n"); got != test.want {
			t.Errorf("%s: %s, want %s", test.r.Answer, got, test.want)
		}
	}
}

// TestAdviseCalls runs a command that fails, one that fails beside others, and one whose output is another one beside others.
func TestAdviseCalls(t *testing.T) {
	t.Chdir(t.TempDir())
	const hint = "; others ran at the same time: items may depend on each other, or share what serves fewer at a time: see --most"
	for script, want := range map[string]string{
		"echo no {} >&2; exit 3":                    `echo no 'a b' >&2; exit 3: exit status 3: no a b`,
		"exit 4 # {}":                               "exit status 4",
		"kill -9 $$ # {}":                           "killed by signal 9",
		"yes {} | head -n 99 >&2; ! :":              "exit status 1: a b\na b",
		"test -e {} || { touch {}; exit; }; exit 5": "exit status 5" + hint,
	} {
		a := adviserOf(t, Options{Spec: command.Spec{Command: []string{script}, Shell: true}, Lists: [][]string{{"a b"}}}, AdviseOptions{}, "")
		err := a.call(t.Context(), 0)
		if strings.HasSuffix(want, hint) && err == nil {
			a.running.Add(1)
			err = a.call(t.Context(), 0)
		}
		if err == nil || !strings.Contains(err.Error(), want) || len(err.Error()) > 400 {
			t.Errorf("%s: %v, want %q", script, err, want)
		}
	}
	for outputs, differs := range map[string]bool{"aaa": false, "aab": true, "ab": false, "abc": false} {
		a := adviserOf(t, Options{Spec: command.Spec{Command: []string{"cat", "output"}}}, AdviseOptions{N: 1}, "")
		for i, text := range strings.Split(outputs, "") {
			testfiles.Write(t, "output", text)
			if i == len(outputs)-1 {
				a.running.Add(1)
			}
			if err := a.call(t.Context(), 0); err != nil {
				t.Error(err)
			}
		}
		if want := map[bool]string{true: "cat output"}[differs]; a.differs != want {
			t.Errorf("outputs %s, the last beside others: %q, want %q", outputs, a.differs, want)
		}
	}
}

// TestAdviseBeside runs two commands that wait for each other: neither has run alone.
func TestAdviseBeside(t *testing.T) {
	t.Chdir(t.TempDir())
	a := adviserOf(t, Options{Spec: command.Spec{Command: []string{"touch {}; until [ -e 0 ] && [ -e 1 ]; do sleep 0.01; done"}, Shell: true}}, AdviseOptions{N: 2}, "")
	first := make(chan error)
	go func() { first <- a.call(t.Context(), 0) }()
	if err := cmp.Or(a.call(t.Context(), 1), <-first); err != nil || len(a.alone) > 0 || a.used.Load() == 0 {
		t.Errorf("%v; outputs alone %v, CPU time %d; want none alone", err, maps.Keys(a.alone), a.used.Load())
	}
}

// TestAdviseWithoutItems wants that a command which needs none runs as it is, if nobody can have meant to give some.
func TestAdviseWithoutItems(t *testing.T) {
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	for _, test := range []struct {
		command string
		stdin   io.Reader
		n       int // 0: an error
	}{
		{"true", null, runsOfConstant},
		{"true {}", null, 0},
		{"true", strings.NewReader(""), 0},
		{"true", strings.NewReader("1\n2\n"), 2},
	} {
		r, err := New(&Options{Spec: command.Spec{Command: strings.Fields(test.command)}}, console.Streams{Stdin: test.stdin, Stderr: io.Discard})
		if err != nil {
			t.Fatal(err)
		}
		a, err := r.newAdviser(t.Context(), AdviseOptions{})
		if (err == nil) != (test.n > 0) || err == nil && len(a.items) != test.n {
			t.Errorf("%s: %v", test.command, err)
		}
	}
}
