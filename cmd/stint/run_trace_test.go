//go:build unix

package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// traced is an attempt, or another event, in the file of --trace.
type traced struct {
	Time     int64  `json:"ts"`
	Phase    string `json:"ph"`
	Process  int    `json:"pid"`
	Lane     int    `json:"tid"`
	Duration int64  `json:"dur"`
	Name     string `json:"name"`
	Args     struct {
		Name    string `json:"name"`
		Seq     int    `json:"seq"`
		Attempt int    `json:"attempt"`
		Exit    int    `json:"exit"`
		Signal  int    `json:"signal"`
		Jobs    int    `json:"jobs"`
	} `json:"args"`
}

// readTrace returns the events of a file, and those that are attempts, by the number of the job. No two of
// a lane overlap. isWhole says whether the file has an end.
func readTrace(t *testing.T, name string, isWhole bool) (all, attempts []traced) {
	t.Helper()
	text, err := os.ReadFile(name)
	must(t, err)
	if !isWhole {
		text = append(text, ']')
	}
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	ends := make(map[[2]int]int64)
	slices.SortStableFunc(all, func(a, b traced) int { return cmp.Compare(a.Time, b.Time) })
	for _, e := range all {
		if e.Phase != "X" {
			continue
		}
		attempts = append(attempts, e)
		lane := [2]int{e.Process, e.Lane}
		if e.Time < ends[lane] {
			t.Errorf("%v overlaps another one", e)
		}
		ends[lane] = e.Time + e.Duration
	}
	slices.SortStableFunc(attempts, func(a, b traced) int { return cmp.Compare(a.Args.Seq, b.Args.Seq) })
	return all, attempts
}

// TestRunTrace wants each attempt of jobs that fail in various ways.
func TestRunTrace(t *testing.T) {
	p := newFaultRun(t, "--trace", "trace.json", "--retries", "1", "--retry-delay", "0.01", "--timeout", "20", "-j", "2", "-s",
		`case $1 in again) [ -e tried ] || { : > tried; exit 3; } ;; killed) kill -9 $$ ;; esac`, ":::", "good", "again", "killed")
	p.start().want(1, "", "stint: 1 of 3 jobs failed: job 3, killed by signal 9")
	all, attempts := readTrace(t, filepath.Join(p.Dir, "trace.json"), true)
	var got []string
	for _, e := range attempts {
		got = append(got, fmt.Sprintf("%s|%d %d %d %d", e.Name, e.Args.Seq, e.Args.Attempt, e.Args.Exit, e.Args.Signal))
		if e.Process != 1 || e.Lane < 1 || e.Lane > 2 {
			t.Errorf("%v is on lane %d of process %d", e, e.Lane, e.Process)
		}
	}
	if want := []string{"good|1 1 0 0", "again: exit status 3|2 1 3 0", "again, attempt 2|2 2 0 0", "killed: killed by signal 9|3 1 0 9", "killed, attempt 2: killed by signal 9|3 2 0 9"}; !slices.Equal(got, want) {
		t.Errorf("the attempts are %q, want %q", got, want)
	}
	limits := slices.DeleteFunc(slices.Clone(all), func(e traced) bool { return e.Name != "limit" })
	if len(limits) != 1 || limits[0].Args.Jobs != 2 {
		t.Errorf("the limit is %v, want 2", limits)
	}
}

// TestRunTraceKilled kills stint, and wants a file that only lacks its end.
func TestRunTraceKilled(t *testing.T) {
	t.Parallel()
	p := newFaultRun(t, append([]string{"--trace", "trace.json", "-j", "2", "-s", "echo >> started; sleep 0.05; : $1", ":::"}, items1to(1000)...)...)
	p.start()
	p.awaitLines("trace.json", 20)
	p.send(syscall.SIGKILL)
	p.end()
	all, attempts := readTrace(t, filepath.Join(p.Dir, "trace.json"), false)
	if !slices.ContainsFunc(all, func(e traced) bool { return e.Name == "running" && e.Args.Jobs == 2 }) {
		t.Error("two jobs have run all the time, which the counter does not say")
	}
	if started := len(p.lines("started")); len(attempts) < 5 || len(attempts) > started {
		t.Errorf("%d attempts, and %d jobs have started", len(attempts), started)
	}
}

// TestRunTraceFails wants that a full disk ends the run, and that a file that cannot be created does
// before a job starts.
func TestRunTraceFails(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err == nil {
		p := newFaultRun(t, append([]string{"--trace", "/dev/full", "-j", "1", "-s", "echo >> started; sleep 0.05; : $1", ":::"}, items1to(1000)...)...)
		p.start().want(1, "", "stint: --trace /dev/full: No space left on device\n")
		if n := len(p.lines("started")); n == 1000 { // perhaps none: the trace has events before the first job ends
			t.Errorf("%d jobs have started of 1000", n)
		}
	}
	p := newFaultRun(t, "--trace", "missing/trace.json", "-s", "echo {} > started", ":::", "a")
	p.start().want(1, "", "stint: --trace: open missing/trace.json: no such file or directory\n")
	if n := len(p.lines("started")); n > 0 {
		t.Error("a job has started")
	}
	p = newFaultRun(t, "-a", "list", "--trace", "list", "-s", "echo {} > started")
	p.write("list", "a\n")
	p.start().want(1, "", "stint: --trace: list: is not a trace, and is not overwritten\n")
	if got := p.lines("list"); len(got) != 1 || got[0] != "a" || len(p.lines("started")) > 0 {
		t.Errorf("the list is now %q", got)
	}
	name := filepath.Join(p.Dir, "trace.json")
	for range 2 { // one trace after another
		p = newFaultRun(t, "--trace", name, "true", ":::", "a").start()
		p.want(0, "", "")
	}
}

// TestRunTraceOnCluster wants each job once, on a lane of the host of the workers.
func TestRunTraceOnCluster(t *testing.T) {
	needsShell(t)
	url, _ := serve(t)
	worker(t, "--cluster", url, "--run", "-j", "3")
	worker(t, "--cluster", url, "--run", "-j", "3")
	name := filepath.Join(t.TempDir(), "trace.json")
	_, errs, status := runStint(t, "", runsOf(url, append([]string{"--trace", name, "--summary", "-s", "sleep 0.0{}; exit $(({} == 7))", ":::"}, items1to(40)...)...)...)
	if status != 1 || !strings.Contains(errs, "stint: 40 jobs, 1 failed, in ") || !strings.Contains(errs, "CPUs busy\n") || !strings.Contains(errs, "  slowest ") {
		t.Errorf("exit status %d, messages\n%s", status, errs)
	}
	all, attempts := readTrace(t, name, true)
	for i, e := range attempts {
		if e.Args.Seq != i+1 || e.Process != 2 || e.Args.Exit != 0 != (e.Args.Seq == 7) {
			t.Errorf("attempt %d is %v", i+1, e)
		}
	}
	isHost := func(e traced) bool { return e.Name == "process_name" && e.Process == 2 && e.Args.Name == host(t) }
	if len(attempts) != 40 || !slices.ContainsFunc(all, isHost) {
		t.Errorf("%d attempts of 40", len(attempts))
	}
}

// TestRunSummary wants a summary however the run ends.
func TestRunSummary(t *testing.T) {
	interrupted := newFaultRun(t, "--summary", "-j", "2", "-s", "echo >> started; [ {} = 1 ] || sleep 1000", ":::", "1", "2", "3")
	interrupted.start().awaitLines("started", 3)
	interrupted.send(syscall.SIGINT)
	interrupted.want(130, "", "stint: 1 job in ")
	halted := newFaultRun(t, "--summary", "--halt", "now,fail=1", "-j", "1", "-s", "exit {}", ":::", "0", "4", "0")
	halted.start().want(4, "", "stint: 2 jobs, 1 failed, in ")
	for _, p := range []*faultRun{interrupted, halted} {
		p.wantMessage(" CPUs busy\n")
		p.wantMessage("\n  slowest ")
	}
}
