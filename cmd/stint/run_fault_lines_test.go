//go:build unix

package main

import (
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
