package auto

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/lab/experiment"
	"github.com/stint-go/stint/lab/measure"
	"github.com/stint-go/stint/lab/result"
	"golang.org/x/sync/semaphore"
)

// Background tasks hold all permits, and their callers wait for more.
const (
	permits  = 8
	callers  = 64
	longTask = 5 * time.Millisecond
)

// A call runs f with a permit, unless ctx ends before.
type call func(ctx context.Context, f func())

func ranged(opts ...stint.Option) call {
	return func(ctx context.Context, f func()) {
		stint.Range(ctx, 1, func(context.Context, int) error { f(); return nil }, opts...)
	}
}

func weighted(s *semaphore.Weighted) call {
	return func(ctx context.Context, f func()) {
		if s.Acquire(ctx, 1) == nil {
			defer s.Release(1)
			f()
		}
	}
}

// background measures how long a task that somebody waits for waits for a permit beside
// background tasks.
func (z sizes) background() experiment.Study {
	const low = "LowPriority"
	c := experiment.Case{
		Name: fmt.Sprintf("permits=%d/callers=%d", permits, callers), Doc: fmt.Sprintf("an op is a background task of %v", longTask),
		Reference: "shared-limit", Ops: 1, Count: samples, Main: true,
	}
	model := func(k result.Kind, name, doc string, open func() (background, others call)) {
		c.Models = append(c.Models, experiment.Model{Model: k.Model(name, doc), Run: func(m *measure.Meter) error { return z.ask(m, open) }})
	}
	model(result.Peer, "semaphore.Weighted", "x/sync v0.24.0: first come, first served", func() (call, call) {
		s := weighted(semaphore.NewWeighted(permits))
		return s, s
	})
	model(result.Ours, c.Reference, "stint.Range with a shared Limit: first come, first served", func() (call, call) {
		l := ranged(stint.Limit(permits))
		return l, l
	})
	model(result.Ours, low, "the same, and background calls with LowPriority", func() (call, call) {
		l := stint.Limit(permits)
		return ranged(l, stint.LowPriority()), ranged(l)
	})
	const behind = "First come, first served, a task waits behind all background tasks that came before it."
	const beside = "With LowPriority it waits no longer than one background task takes, and the background tasks are not slowed down."
	return experiment.One(c,
		result.Claim{Case: c.Name, Model: low, Unit: measure.P99, Form: result.Ratio, Than: c.Reference, Bar: 0.25, Conclusion: behind},
		result.Claim{Case: c.Name, Model: low, Unit: measure.P99, Form: result.Value, Bar: float64(longTask), Conclusion: beside},
		experiment.AtMost(1.1, c.Name, low, c.Reference, beside))
}

// ask measures the waits of short tasks, one after the other, beside background tasks.
func (z sizes) ask(m *measure.Meter, open func() (background, others call)) error {
	flood, ask := open()
	ctx, cancel := context.WithCancel(context.Background())
	var ran atomic.Int64
	var all sync.WaitGroup
	for range callers {
		all.Go(func() {
			for ctx.Err() == nil {
				flood(ctx, func() {
					ran.Add(1)
					time.Sleep(longTask)
				})
			}
		})
	}
	time.Sleep(5 * longTask)              // until all wait
	random := rand.New(rand.NewPCG(1, 2)) // the same pauses in each sample
	began, before := time.Now(), ran.Load()
	var waits []float64
	for range z.asks {
		time.Sleep(time.Duration(random.Int64N(int64(longTask))))
		came := time.Now()
		ask(ctx, func() {
			waits = append(waits, float64(time.Since(came)))
			time.Sleep(longTask / 10)
		})
	}
	took, background := time.Since(began), ran.Load()-before
	cancel()
	all.Wait()
	if len(waits) != z.asks || background == 0 {
		return fmt.Errorf("%d of %d tasks ran, and %d background tasks", len(waits), z.asks, background)
	}
	slices.Sort(waits)
	m.Report(measure.Time, float64(took)/float64(background))
	m.Report(measure.P50, waits[(z.asks-1)/2])
	m.Report(measure.P99, waits[(z.asks*99-1)/100])
	return nil
}
