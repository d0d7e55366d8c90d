package io

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stint-go/stint/lab/trial"
)

func TestRun(t *testing.T) {
	trial.Run(t, run, 3, trial.Want{Processors: 1, Cases: 4, Verdicts: 17}, trial.Want{Processors: 2, Cases: 8, Verdicts: 48})
}

// The items are always the same, have correct results, and sleep as long as
// they should: one hundred about 0.45 s, as in the articles.
func TestSleeps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, n := range []int{1, 10, 100} {
			l, again := sleeps(n, time.Millisecond), sleeps(n, time.Millisecond)
			trial.Wrong(t, l)
			began := time.Now()
			if got := l.Sum(); got != l.Want || got != again.Want {
				t.Errorf("%d items: the sum is %d, want %d and %d", n, got, l.Want, again.Want)
			}
			if took := time.Since(began); n == 100 && (took < 400*time.Millisecond || took > 500*time.Millisecond) {
				t.Errorf("100 items sleep for %v, want about 450 ms", took)
			}
		}
	})
}
