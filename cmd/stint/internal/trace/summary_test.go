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
	s := &Summary{Began: time.Now()}
	if got := s.Lines(0, 0); got != "  CPU time  0s, 0.0 CPUs busy" {
		t.Errorf("without a job the summary is\n%s", got)
	}
	for i := range 20 {
		s.Attempt(&Attempt{Seq: int64(i), Command: func() string { return fmt.Sprint("sleep ", i) }, Result: process.Result{Elapsed: time.Duration(i) * time.Second, CPU: 100 * time.Millisecond, MaxRSS: int64(i%7) * 1e6}})
	}
	s.Attempt(&Attempt{Seq: 17, Result: process.Result{Elapsed: time.Minute, CPU: 500 * time.Millisecond}})
	for i := range 120 {
		s.Sample(s.Began.Add(time.Duration(i)*time.Second/10), limit.State{Limit: 2 + i/10, Reason: "CPUs are idle"})
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

// TestSlowest adds jobs at random, and wants the five slowest of them.
func TestSlowest(t *testing.T) {
	for seed := range uint64(100) {
		rnd := rand.New(rand.NewPCG(seed, 0))
		s, all := new(Summary), make(map[int64]time.Duration)
		for range 50 {
			seq, elapsed := rnd.Int64N(30), time.Duration(rnd.IntN(1e9))
			all[seq] = max(all[seq], elapsed)
			s.Attempt(&Attempt{Seq: seq, Command: func() string { return "" }, Result: process.Result{Elapsed: elapsed}})
		}
		var want []slow
		for seq, elapsed := range all {
			want = append(want, slow{seq, elapsed, ""})
		}
		slices.SortFunc(want, func(a, b slow) int { return int(b.elapsed/1000 - a.elapsed/1000) })
		if !slices.Equal(s.slowest, want[:maxSlowest]) {
			t.Errorf("seed %d: %v, want %v", seed, s.slowest, want[:maxSlowest])
		}
	}
}

// TestCourse samples a limit at irregular times, and wants each column to have the last limit of its time.
func TestCourse(t *testing.T) {
	for seed := range uint64(100) {
		rnd := rand.New(rand.NewPCG(seed, 0))
		s := &Summary{Began: time.Now()}
		last := make(map[time.Duration]int)
		for at := time.Duration(0); at < 2*time.Minute; at += time.Duration(rnd.IntN(50)) * time.Millisecond {
			n := 1 + rnd.IntN(100)
			last[at/firstStep] = n
			s.Sample(s.Began.Add(at), limit.State{Limit: n})
			if len(s.columns) > maxColumns || at > maxColumns*firstStep && len(s.columns) < maxColumns/2 {
				t.Fatalf("seed %d: %d columns after %v", seed, len(s.columns), at)
			}
		}
		per := s.step / firstStep
		for i, got := range s.columns {
			want := 0
			for k := time.Duration(i) * per; k < time.Duration(i+1)*per; k++ {
				if n := last[k]; n > 0 {
					want = n
				}
			}
			if got != want {
				t.Errorf("seed %d: column %d is %d, want %d", seed, i, got, want)
			}
		}
	}
}
