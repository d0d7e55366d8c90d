//go:build unix

package main

import (
	"encoding/json"
	"os/signal"
	"slices"
	"strings"
	"testing"

	"github.com/stint-go/stint/advise"
)

// newAdviseRun returns "stint advise" in a process of its own.
func newAdviseRun(t *testing.T, args ...string) *faultRun {
	t.Helper()
	p := newFaultRun(t, args...)
	p.Args[1] = "advise"
	return p
}

// TestAdviseOnce wants that --once runs no item twice, and that without it one runs more than once. The
// first items take longer.
func TestAdviseOnce(t *testing.T) {
	t.Parallel()
	for _, flag := range []string{"--once", "--once=false"} {
		p := newAdviseRun(t, append([]string{flag, "--budget", "3", "-s", "echo {} >>log; [ {} -gt 3 ] || sleep 0.2; sleep 0.01", ":::"}, items1to(300)...)...).start().end()
		items := p.lines("log")
		slices.Sort(items)
		calls, different := len(items), len(slices.Compact(items))
		if p.want(0, p.out.String(), ""); calls < 3 || (calls == different) != (flag == "--once") {
			t.Errorf("%s: %d calls for %d items", flag, calls, different)
		}
	}
}

// TestAdviseJSON reads the object, and the environment of the command.
func TestAdviseJSON(t *testing.T) {
	t.Parallel()
	p := newAdviseRun(t, "--json", "--budget", "5", "--most", "3", "--n", "4", "-s", "env >>env.{}; sleep 0.01")
	p.Env = append(p.Env, "STINT_TOKEN=s3cret")
	p.start().end()
	var r advise.Report
	d := json.NewDecoder(&p.out)
	d.DisallowUnknownFields()
	must(t, d.Decode(&r))
	if rest, _ := d.Token(); rest != nil || r.N != 4 || r.Item.Measured < 1 || !strings.HasPrefix(r.Code, "seq 0 3 | stint run ") {
		t.Errorf("report %+v, then %v", r, rest)
	}
	for _, m := range r.Models {
		if m.Limit > 3 {
			t.Errorf("%s was measured, with --most 3", m.Name)
		}
	}
	env := strings.Join(p.lines("env.0"), "\n")
	if !strings.Contains(env, p.mark) || strings.Contains(env, "s3cret") {
		t.Errorf("the environment of the command is %s", env)
	}
}

// TestAdviseInterrupted sends a signal before and after there is an answer: it is printed, and the commands end.
func TestAdviseInterrupted(t *testing.T) {
	t.Parallel()
	for _, end := range endings {
		for _, script := range []string{sleeper, "echo >>started; sleep 0.5"} {
			if signal.Ignored(end.signal) {
				continue
			}
			p := newAdviseRun(t, "--n", "8", "-s", script).start()
			count := map[bool]int{true: 1, false: 4}[script == sleeper]
			p.awaitLines("started", count)
			p.send(end.signal)
			p.end()
			answered := strings.Contains(p.out.String(), "seq 0 7 | stint run ")
			if p.ProcessState.ExitCode() != end.status || answered != (count > 1) || p.errs.String() != "" {
				t.Errorf("%v, %q: exit status %d, output %q, messages %q", end.signal, script, p.ProcessState.ExitCode(), &p.out, p.errs.String())
			}
		}
	}
}
