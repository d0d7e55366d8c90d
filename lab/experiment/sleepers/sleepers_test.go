package sleepers

import (
	"context"
	"testing"
	"time"

	"github.com/stint-go/stint/lab/experiment"
	"github.com/stint-go/stint/lab/result"
	"github.com/stint-go/stint/lab/trial"
)

func TestRun(t *testing.T) {
	trial.Run(t, func(ctx context.Context, s *experiment.Session, w workload) (*result.Result, error) {
		r, err := run(ctx, s, w)
		if got, want := len(r.Rows), 14*len(r.Cases); got != want {
			t.Errorf("%d rows, want %d", got, want)
		}
		return r, err
	}, workload{tasks: 300, limit: 30, pause: time.Millisecond}, trial.Want{Processors: 1, Cases: 1, Verdicts: 19}, trial.Want{Processors: 2, Cases: 2, Verdicts: 35})
}
