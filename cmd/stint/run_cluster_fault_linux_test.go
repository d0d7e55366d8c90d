package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestRunClusterResumeAfterKill kills the command that submits, and resumes the run, several
// times: no job is lost, and none that is in the log is submitted again. What the killed command
// has submitted goes on.
func TestRunClusterResumeAfterKill(t *testing.T) {
	t.Parallel()
	const n, kills = 120, 4
	url, _ := serve(t)
	worker(t, "--cluster", url, "--run", "-j", "2")
	dir := t.TempDir()
	args := append([]string{"--env", "RUN", "--joblog", "log", "--resume", "-s", `echo $1 $RUN >>runs; echo $1; sleep 0.01`, ":::"}, items1to(n)...)
	for kill := 1; kill <= kills+1; kill++ {
		p := newClusterRun(t, url, args...)
		p.Dir, p.Env = dir, append(p.Env, fmt.Sprint("RUN=", kill))
		before := p.logged()
		if p.start(); kill <= kills {
			eventually(func() bool { return len(p.logged()) > len(before)+n/kills/2 })
			_ = p.Process.Kill() // it may have ended
			p.end()
		} else {
			p.want(0, strings.Join(without(items1to(n), before), ""), "")
		}
		for _, line := range p.lines("runs") {
			if item, run, _ := strings.Cut(line, " "); run == fmt.Sprint(kill) && slices.Contains(before, item) {
				t.Errorf("job %s was submitted again, though it was in the log", item)
			}
		}
		if kill <= kills {
			continue
		}
		p.wantAllRun(n)
		if got := p.logged(); !slices.Equal(got, items1to(n)) {
			t.Errorf("the log has %d jobs, want %d, each once: %q", len(got), n, got)
		}
	}
}

// without returns a line for each of the items that are not among some.
func without(items, some []string) (lines []string) {
	for _, item := range items {
		if !slices.Contains(some, item) {
			lines = append(lines, item+"\n")
		}
	}
	return lines
}
