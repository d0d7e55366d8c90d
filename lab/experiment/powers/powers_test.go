package powers

import (
	"context"
	"testing"

	"github.com/stint-go/stint/lab/experiment"
	"github.com/stint-go/stint/lab/result"
	"github.com/stint-go/stint/lab/trial"
)

func TestRun(t *testing.T) {
	trial.Run(t, func(ctx context.Context, s *experiment.Session) (*result.Result, error) {
		return run(ctx, s, sizes{long: 300, short: 10, once: 1, ops: 2})
	}, trial.Want{Processors: 1, Cases: 2, Verdicts: 15}, trial.Want{Processors: 2, Cases: 4, Verdicts: 34})
}

// Powers that are infinite are told apart too.
func TestPowersAreToldApart(t *testing.T) {
	l := powers(5000)
	seen := map[uint64]int{}
	for i := range l.N {
		if j, ok := seen[power(i)]; ok {
			t.Fatalf("items %d and %d give the same", i, j)
		}
		seen[power(i)] = i
	}
	trial.Wrong(t, l)
}
