//go:build unix

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stint-go/stint/cluster"
)

// TestRunClusterDirectory wants that --cwd is a directory of the machine where the command
// runs, if it is relative, and that jobs run in the worker's without it.
func TestRunClusterDirectory(t *testing.T) {
	t.Parallel()
	url, _ := serve(t)
	w := faultWorker(t, url, "WORKER=1", "--run", "-j", "2")
	here, elsewhere := realPath(t, t.TempDir()), realPath(t, t.TempDir())
	must(t, os.MkdirAll(filepath.Join(here, "sub dir", "deep"), 0o777))
	must(t, os.WriteFile(filepath.Join(here, "sub dir", "tool"), []byte("#!/bin/sh\npwd -P\n"), 0o777))
	tests := []struct {
		args []string
		want string
	}{
		{[]string{"-s", "pwd -P; : $1"}, realPath(t, w.Dir)},
		{[]string{"--cwd", ".", "-s", "pwd -P; : $1"}, here},
		{[]string{"--cwd", "sub dir", "-s", "pwd -P; : $1"}, here + "/sub dir"},
		{[]string{"--cwd", "./sub dir/deep/..", "-s", "pwd -P; : $1"}, here + "/sub dir"},
		{[]string{"--cwd", "..", "-s", "pwd -P; : $1"}, filepath.Dir(here)},
		{[]string{"--cwd", elsewhere, "-s", "pwd -P; : $1"}, elsewhere},
		{[]string{"--cwd", "/", "-s", "pwd -P; : $1"}, "/"},
		{[]string{"--cwd", "sub dir", "./tool"}, here + "/sub dir"}, // relative to it, as for execvp
		{[]string{"--cwd", "sub dir", "{}"}, here + "/sub dir"},
	}
	var all []*faultRun
	for _, test := range tests {
		p := newFaultRun(t, append(append([]string{"--cluster", url}, test.args...), ":::", "./tool")...)
		p.Dir = here
		all = append(all, p.start())
	}
	for i, p := range all {
		p.want(0, tests[i].want+"\n", "")
	}
	for dir, reason := range map[string]string{"missing": "No such file or directory", "sub dir/tool": "Not a directory"} {
		p := newFaultRun(t, "--cluster", url, "--cwd", dir, "echo", ":::", "a")
		p.Dir = here
		p.start().want(1, "", "on "+host(t)+": --cwd ")
		p.wantMessage(reason)
	}
}

// realPath returns path without symbolic links.
func realPath(t *testing.T, path string) string {
	t.Helper()
	path, err := filepath.EvalSymlinks(path)
	must(t, err)
	return path
}

// TestRunClusterVariables wants that jobs have the variables of the worker, but for its token,
// and those that are passed.
func TestRunClusterVariables(t *testing.T) {
	t.Parallel()
	url, _ := serve(t, "--token", "s3cret")
	w := newFaultCommand(t, "work", "--cluster", url, "--run")
	w.Env = append(w.Env, "STINT_TOKEN=s3cret", "STINT_A=theirs", "STINT_B=theirs", "STINT_C=theirs", "STINT_D=theirs")
	w.start()
	const script = `printf %s,%s,%s,%s,%s,%s "${STINT_A-unset}" "${STINT_B-unset}" "${STINT_C-unset}" \
		"${STINT_D-unset}" "${STINT_E-unset}" "${STINT_TOKEN-unset}"; : $1`
	long := strings.Repeat("x", 100_000)
	tests := []struct {
		ours   []string // variables of the command
		passed string   // the names of --env
		want   string   // of STINT_A to STINT_E, and of the token
	}{
		{nil, "", "theirs,theirs,theirs,theirs,unset,unset"},
		{[]string{"STINT_A=ours", "STINT_E=ours"}, "", "theirs,theirs,theirs,theirs,unset,unset"},
		{[]string{"STINT_A=ours", "STINT_E=ours"}, "STINT_A STINT_B", "ours,theirs,theirs,theirs,unset,unset"}, // B is not set here
		{[]string{"STINT_A=", "STINT_E=a b=c"}, "STINT_A STINT_E", ",theirs,theirs,theirs,a b=c,unset"},
		{[]string{"STINT_A=1\n2", "STINT_B=\xff\x01'$(", "STINT_E=é"}, "STINT_E STINT_A STINT_B STINT_A", "1\n2,\xff\x01'$(,theirs,theirs,é,unset"},
		{[]string{"STINT_A=ours", "STINT_E=" + long}, "STINT_E STINT_A", "ours,theirs,theirs,theirs," + long + ",unset"},
		{nil, "STINT_TOKEN", "theirs,theirs,theirs,theirs,unset,s3cret"},
	}
	var all []*faultRun
	for _, test := range tests {
		args := []string{"--cluster", url}
		for _, name := range strings.Fields(test.passed) {
			args = append(args, "--env", name)
		}
		p := newFaultRun(t, append(args, "-s", script, ":::", "a")...)
		p.Env = append(append(p.Env, "STINT_TOKEN=s3cret"), test.ours...)
		all = append(all, p.start())
	}
	for i, p := range all {
		p.want(0, tests[i].want, "")
	}
}

// TestRunClusterWaits starts workers that do not take a command: the run says what it waits for,
// and goes on when there is a worker that does.
func TestRunClusterWaits(t *testing.T) {
	t.Parallel()
	const anyProgram = "stint: no worker answers; waiting for one: start it with 'stint work --run'"
	tests := []struct {
		worker []string // its arguments
		args   []string
		out    string
		more   string // of the message
	}{
		{nil, []string{"echo", ":::", "a", "b"}, "a\nb\n", ""},
		{[]string{"--run=true,cat"}, []string{"echo", ":::", "a", "b"}, "a\nb\n", "; the workers run only cat, true"},
		{[]string{"--run=echo,sh"}, []string{"/bin/echo", ":::", "a", "b"}, "a\nb\n", "; the workers run only echo, sh"},
		{[]string{"--run=echo,sh"}, []string{"{}", "a", ":::", "echo", "printf"}, "a\na", "; the workers run only echo, sh"},
		{[]string{"--run=echo"}, []string{"-s", "echo $1", ":::", "a", "b"}, "a\nb\n", "; the workers run only echo"},
	}
	var all []*faultRun
	var urls []string
	for _, test := range tests {
		url, _ := serve(t)
		worker(t, append([]string{"--cluster", url}, test.worker...)...)
		all, urls = append(all, newClusterRun(t, url, test.args...).start()), append(urls, url)
	}
	for i, p := range all {
		if !eventually(func() bool { return strings.HasSuffix(p.errs.String(), anyProgram+tests[i].more+"\n") }) {
			t.Fatalf("%q: messages %q, want that it waits", p.Args, p.errs.String())
		}
		if s := state(t, urls[i]); len(s.Workers) == 1 && s.Workers[0].Running+int(s.Workers[0].Done) > 0 || len(s.Runs) != 1 || s.Runs[0].Waiting != 2 {
			t.Errorf("%q: want two jobs that wait: %+v", p.Args, s)
		}
		worker(t, "--cluster", urls[i], "--run")
		p.want(0, tests[i].out, anyProgram)
		left(t, urls[i])
	}
}

// TestRunClusterNamedPrograms has a worker for some programs: alone, and with one for all.
func TestRunClusterNamedPrograms(t *testing.T) {
	t.Parallel()
	url, _ := serve(t)
	named := worker(t, "--cluster", url, "--run=echo,sh", "-j", "2")
	until(t, url, "the worker is there", func(s *cluster.Status) bool { return len(s.Workers) == 1 })
	wantNumbers(t, url, "echo", "-s|echo $1", "echo|{}")
	p := newClusterRun(t, url, "--env", "HOME", "echo", ":::", "a").start()
	p.want(1, "", "1 job of 1 failed: job 1, the worker on "+host(t)+" runs only some programs, and takes no --env: echo a\n")
	worker(t, "--cluster", url, "--run", "-j", "2")
	until(t, url, "both workers are there", func(s *cluster.Status) bool { return len(s.Workers) == 2 })
	wantNumbers(t, url, "echo", "-s|echo $1", "printf|%s\\n", "--env|HOME|echo", "/bin/echo", "{1}|{2}|:::|echo")
	named.end(0)
	wantNumbers(t, url, "echo")
	left(t, url)
}

// wantNumbers runs commands, whose words are separated by |, that print thirty numbers each.
func wantNumbers(t *testing.T, url string, commands ...string) {
	t.Helper()
	items := items1to(30)
	var all []*faultRun
	for _, c := range commands {
		args := append(strings.Split(c, "|"), ":::")
		all = append(all, newClusterRun(t, url, append(args, items...)...).start())
	}
	for _, p := range all {
		p.want(0, strings.Join(items, "\n")+"\n", "")
	}
}
