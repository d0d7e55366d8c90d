package naps

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stint-go/stint/lab/experiment"
	"github.com/stint-go/stint/lab/result"
	"github.com/stint-go/stint/lab/trial"
)

func TestRun(t *testing.T) {
	trial.Run(t, func(ctx context.Context, s *experiment.Session) (*result.Result, error) {
		return run(ctx, s, 3)
	}, trial.Want{Processors: 1, Cases: 2, Verdicts: 8}, trial.Want{Processors: 2, Cases: 4, Verdicts: 20})
}

// The items are the same each time, give what they must, and sleep as long as
// they say: the hundred as long as those of the articles, about 0.45 s.
func TestNaps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, n := range []int{1, 10, 100} {
			l, again := naps(n, time.Millisecond), naps(n, time.Millisecond)
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
