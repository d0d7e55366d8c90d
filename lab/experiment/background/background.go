// Package background measures how long a task that somebody waits for waits for a permit
// beside a flood of background tasks, with LowPriority and without.
package background

import (
	"context"
	"fmt"
	"time"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/lab/experiment"
	"github.com/stint-go/stint/lab/measure"
	"github.com/stint-go/stint/lab/result"
)

// Experiment is the experiment background.
var Experiment = experiment.New("background", "tasks that somebody waits for beside background tasks on the same permits",
	full(), full().asked(5), run)

// sizes describe the flood and the tasks that somebody waits for.
type sizes struct {
	permits, callers int           // callers submit background tasks
	long, short      time.Duration // of a background task, and of another
	asks             int           // how many of the others come, one after the other
}

func full() sizes {
	return sizes{permits: 8, callers: 64, long: 10 * time.Millisecond, short: time.Millisecond, asks: 100}
}

// asked returns the sizes with another number of asks.
func (z sizes) asked(n int) sizes {
	z.asks = n
	return z
}

// samples is less than usual: one takes up to ten seconds.
const samples = 10

// The models.
const (
	namePeer = "semaphore.Weighted"
	nameFIFO = "stint.Range"
	nameLow  = "LowPriority"
	nameDo   = "LowPriority-Do"
)

func run(ctx context.Context, s *experiment.Session, z sizes) (*result.Result, error) {
	b := s.NewBench("background", fmt.Sprintf("a task of %v comes up to %v after the one before has ended, beside %d callers with background tasks of %v on the same %d permits", z.short, z.long, z.callers, z.long, z.permits),
		fmt.Sprintf("p50 and p99 are the times from the call until its task runs, of %d calls a sample.", z.asks),
		"An op is a background task: its time is the time of the sample divided by those that began in it.",
		"All tasks sleep. Nothing interrupts a background task, so the best p99 is a little less than one takes.")
	return b.Run(ctx, experiment.One(z.kase(), z.claims()...))
}

// kase is named by the flood.
func (z sizes) kase() experiment.Case {
	ranged := func(opts ...stint.Option) func() (call, call) {
		return func() (call, call) {
			l := stint.Limit(z.permits)
			return loop(append(opts, l)...), loop(l)
		}
	}
	return experiment.Case{
		Name: fmt.Sprintf("permits=%d/callers=%d", z.permits, z.callers), Doc: "an op is a background task",
		Reference: nameFIFO, Ops: 1, Count: samples, Main: true,
		Models: []experiment.Model{
			z.model(result.Peer.Model(namePeer, "x/sync v0.24.0: first come, first served"), func() (call, call) {
				c := weighted(z.permits)
				return c, c
			}),
			z.model(result.Ours.Model(nameFIFO, "stint.Range with a shared Limit: first come, first served"), ranged()),
			z.model(result.Ours.Model(nameLow, "the same, and background calls with LowPriority"), ranged(stint.LowPriority())),
			z.model(result.Ours.Model(nameDo, "background calls of stint.Range with LowPriority, and others of Limiter.Do"), func() (call, call) {
				l := stint.Limit(z.permits)
				return loop(stint.LowPriority(), l), func(ctx context.Context, n int, f func()) {
					for range n {
						l.Do(ctx, func(context.Context) error { f(); return nil })
					}
				}
			}),
		},
	}
}

// model measures the waits of calls through ask beside others through flood.
func (z sizes) model(m result.Model, open func() (flood, ask call)) experiment.Model {
	return experiment.Model{Model: m, Run: func(m *measure.Meter) error {
		flood, ask := open()
		took, began, waits := z.trial(flood, ask)
		m.Report(measure.Time, float64(took)/float64(max(1, began)))
		m.Report(measure.P50, quantile(waits, 0.5))
		m.Report(measure.P99, quantile(waits, 0.99))
		if len(waits) != z.asks || began == 0 {
			return fmt.Errorf("%d of %d tasks ran, and %d background tasks", len(waits), z.asks, began)
		}
		return nil
	}}
}

// The conclusions.
const (
	behind = "First come, first served, a task waits behind all background tasks that came before it."
	beside = "With LowPriority it waits no longer than one background task takes, and the background tasks are not slowed down."
)

func (z sizes) claims() []result.Claim {
	name := z.kase().Name
	claims := []result.Claim{
		{Case: name, Model: nameLow, Unit: measure.P99, Form: result.Ratio, Than: nameFIFO, Bar: 0.25, Conclusion: behind},
	}
	for _, m := range []string{nameLow, nameDo} {
		claims = append(claims,
			result.Claim{Case: name, Model: m, Unit: measure.P99, Form: result.Value, Bar: float64(z.long), Conclusion: beside},
			experiment.AtMost(1.1, name, m, nameFIFO, beside))
	}
	return claims
}
