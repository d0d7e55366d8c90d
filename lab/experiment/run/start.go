package run

import (
	"context"
	"fmt"
	"slices"

	"github.com/stint-go/stint/lab/experiment"
	"github.com/stint-go/stint/lab/measure"
	"github.com/stint-go/stint/lab/result"
)

// The conclusions.
const (
	starts = "stint run starts in at most 20 ms, in a fifth of the time of GNU parallel."
	cheap  = "A job of stint run costs about what one of xargs does, a fifth of one of GNU parallel, and no more than one of rush or rust-parallel."
)

// startUp runs one job that does nothing.
func (l *lab) startUp(ctx context.Context) (experiment.Study, error) {
	c, err := l.truths(ctx, "true/jobs=1", "true, once", 1, 0)
	gnu := result.Claim{Case: c.Name, Model: nameOurs, Unit: measure.Time, Form: result.Speedup, Than: nameGNU, Bar: 5, Conclusion: starts}
	return experiment.One(c, append(l.against(nameGNU, gnu), atMost(20e6, measure.Time, c.Name, starts))...), err
}

// nothing runs many of them.
func (l *lab) nothing(ctx context.Context) (experiment.Study, error) {
	c, err := l.truths(ctx, fmt.Sprintf("true/jobs=%d", l.trues), fmt.Sprintf("true, %d times, with -j 2", l.trues), l.trues, 2)
	claims := slices.Concat(
		l.against(nameXargs, experiment.AtMost(1.15, c.Name, nameOurs, nameXargs, cheap)),
		l.against(nameGNU, experiment.AtMost(0.2, c.Name, nameOurs, nameGNU, cheap)),
		l.against(nameRush, experiment.AtMost(1, c.Name, nameOurs, nameRush, cheap)),
		l.against(nameRust, experiment.AtMost(1, c.Name, nameOurs, nameRust, cheap)),
	)
	return experiment.One(c, claims...), err
}

// truths runs true. What that does is not to be seen, so the warm-up also runs echo.
func (l *lab) truths(ctx context.Context, name, doc string, n, jobs int) (experiment.Case, error) {
	it, err := l.newItems(name, n, numbered)
	b := batch{command: []string{"true"}, items: it, jobs: jobs}
	var models []experiment.Model
	for _, t := range append([]tool{l.ours(0)}, l.peers...) {
		m := l.model(ctx, t, b, unchecked)
		run := m.Run
		m.Run = func(m *measure.Meter) error {
			if m.Round < 0 {
				echo := b
				echo.command = []string{"echo"}
				once := func(_ *measure.Meter, output string) error { return it.check(output, 1, t.Kind == result.Ours) }
				if err := l.measure(ctx, new(measure.Meter), l.process(t, echo), once); err != nil {
					return err
				}
			}
			return run(m)
		}
		models = append(models, m)
	}
	return l.kase(name, doc, models...), err
}
