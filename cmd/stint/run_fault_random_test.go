//go:build unix

package main

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// TestRunHalfLines runs 64 jobs that write half lines, with pauses: those of different jobs
// do not mix.
func TestRunHalfLines(t *testing.T) {
	t.Parallel()
	for _, flag := range []string{"--tag=false", "--unordered", "--tag", "--line-buffer"} {
		p := newFaultRun(t, append([]string{flag, "-j", "64", "-s", "for i in 1 2 3; do printf 'a%s' $1; sleep 0.0$i; printf 'b%s\n' $1; done", ":::"}, items1to(64)...)...)
		p.start().end()
		lines := strings.Split(strings.TrimSuffix(p.out.String(), "\n"), "\n")
		var want []string
		for _, item := range items1to(64) {
			line := "a" + item + "b" + item
			if flag == "--tag" {
				line = item + "\t" + line
			}
			want = append(want, line, line, line)
		}
		if flag == "--unordered" {
			for i := 0; i+3 <= len(lines); i += 3 {
				if lines[i] != lines[i+1] || lines[i] != lines[i+2] {
					t.Errorf("%s: the output of jobs mixes: %q", flag, lines[i:i+3])
				}
			}
		}
		if flag == "--unordered" || flag == "--line-buffer" {
			slices.Sort(lines)
			slices.Sort(want)
		}
		if !slices.Equal(lines, want) {
			t.Errorf("%s: %s", flag, difference(strings.Join(lines, "\n"), strings.Join(want, "\n")))
		}
		p.wantMessage("")
	}
}

// TestRunRandomJobs runs jobs of random sizes, durations and exit statuses, and wants each
// byte once.
func TestRunRandomJobs(t *testing.T) {
	t.Parallel()
	const n = 20
	for i, jobs := range []string{"1", "2", "8", "64"} {
		for f, flag := range []string{"--tag=false", "--unordered", "--results=results", "--tag"} {
			if (i+f)%2 != 0 {
				continue // each with some of the others
			}
			var items []string
			for k := range n {
				items = append(items, fmt.Sprintf("%d-%d-0.0%02d-%d", k, rand.IntN(300_000), rand.IntN(20), rand.IntN(i+2)%2))
			}
			p := newFaultRun(t, append([]string{"--quiet", "-j", jobs, flag, "-s", `set -- $(IFS=-; echo $1) $1; sleep $3; yes $5 | head -c $2; echo; exit $4`, ":::"}, items...)...)
			p.start().end()
			p.wantRandom(flag, items)
		}
	}
}

// wantRandom wants the output of random jobs.
func (p *faultRun) wantRandom(flag string, items []string) {
	p.t.Helper()
	var want []string
	for _, item := range items {
		var size int
		_, _ = fmt.Sscanf(item[strings.IndexByte(item, '-')+1:], "%d", &size)
		text := strings.Repeat(item+"\n", size/len(item)+1)[:size] + "\n"
		if flag == "--tag" {
			text = item + "\t" + strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n"+item+"\t") + "\n"
		}
		want = append(want, text)
	}
	got := p.out.String()
	if flag != "--unordered" {
		if all := strings.Join(want, ""); got != all {
			p.t.Errorf("%s: %.300s", flag, difference(got, all))
		}
		return
	}
	total := 0
	for _, text := range want {
		if total += len(text); strings.Count(got, text) < 1 {
			p.t.Errorf("the output of a job is missing or torn: %.60q", text)
		}
	}
	if total != len(got) {
		p.t.Errorf("%d bytes of output, want %d", len(got), total)
	}
}
