package trace

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stint-go/stint/cmd/stint/internal/limit"
	"github.com/stint-go/stint/cmd/stint/internal/process"
)

// TestSummary wants the numbers of some jobs, one of which was tried twice.
func TestSummary(t *testing.T) {
	t.Setenv("LC_ALL", "en_US.UTF-8")
	s := new(Summary)
	if got := s.Lines(0, 0); got != "  CPU time  0s, 0.0 CPUs busy" {
		t.Errorf("without a job the summary is\n%s", got)
	}
	for _, i := range rand.Perm(20) {
		s.Attempt(&Attempt{Seq: int64(i), Command: func() string { return fmt.Sprint("sleep ", i) }, Result: process.Result{Elapsed: time.Duration(i) * time.Second, CPU: 100 * time.Millisecond, MaxRSS: int64(i%7) * 1e6}})
	}
	s.Attempt(&Attempt{Seq: 17, Command: func() string { return "sleep 17" }, Result: process.Result{Elapsed: time.Minute, CPU: 500 * time.Millisecond}})
	for i := range 120 {
		s.Sample(limit.State{Limit: 2 + i/10, Reason: "CPUs are idle"})
	}
	want := `  CPU time  2.5s, 0.2 of 2 CPUs busy
  memory    6.0 MB, the most of a job
  limit     13, CPUs are idle
            PICTURE from 2 to 13
  slowest   1m0s, job 17: sleep 17
            19s, job 19: sleep 19
            18s, job 18: sleep 18
            16s, job 16: sleep 16
            15s, job 15: sleep 15`
	got := s.Lines(12*time.Second, 2)
	shown := strings.TrimSpace(strings.Split(strings.Split(got, "\n")[3], " from ")[0])
	if got = strings.Replace(got, shown, "PICTURE", 1); got != want {
		t.Errorf("the summary is\n%s\nwant\n%s", got, want)
	}
	if n := len([]rune(shown)); n < maxColumns/2 || n > maxColumns || !strings.HasPrefix(shown, "▁") || !strings.HasSuffix(shown, "█") || !slices.IsSorted([]rune(shown)) {
		t.Errorf("the limit rises as %q", shown)
	}
	t.Setenv("LC_ALL", "C")
	if got := picture([]int{3, 4, 10}, 3, 10); got != "_.#" {
		t.Errorf("the picture is %q in ASCII", got)
	}
}

// TestCourse samples a limit that rises to the number of samples, and wants columns at equal distances.
func TestCourse(t *testing.T) {
	s := new(Summary)
	for i := 1; i <= 10_000; i++ {
		s.Sample(limit.State{Limit: i})
		if len(s.columns) >= maxColumns || i > maxColumns && len(s.columns) < maxColumns/2 {
			t.Fatalf("%d columns of %d samples", len(s.columns), i)
		}
		for k, got := range s.columns {
			if want := (k + 1) * s.step; got != want || i-s.columns[len(s.columns)-1] >= s.step {
				t.Fatalf("after %d samples column %d is that of sample %d, want %d", i, k, got, want)
			}
		}
	}
}
