package sleepers

import (
	"context"
	"testing"
	"time"

	"github.com/stint-go/stint/lab/experiment"
	"github.com/stint-go/stint/lab/measure"
	"github.com/stint-go/stint/lab/result"
	"github.com/stint-go/stint/lab/trial"
)

func TestRun(t *testing.T) {
	trial.Run(t, func(ctx context.Context, s *experiment.Session, w workload) (*result.Result, error) {
		r, err := run(ctx, s, w)
		for _, c := range r.Cases {
			for _, f := range c.Figures {
				if r.Row(c.Name, f.Model) == nil {
					t.Errorf("%s has a figure of %s, and no row", c.Name, f.Model)
				}
			}
		}
		return r, err
	}, workload{300, 30, time.Millisecond, 3},
		trial.Want{Processors: 1, Cases: 4, Verdicts: 21}, trial.Want{Processors: 2, Cases: 6, Verdicts: 41}, trial.Want{Processors: 3, Cases: 7, Verdicts: 44})
}

// A run that loses tasks is detected.
func TestLost(t *testing.T) {
	w := workload{tasks: 10}
	if err := w.counted(func(pause func(), _ *measure.Meter) { pause() })(&measure.Meter{N: 1}); err == nil {
		t.Error("one of ten tasks ran, and there is no error")
	}
}
