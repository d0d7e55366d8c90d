package loops

import (
	"fmt"
	"sync/atomic"
	"time"

	"github.com/stint-go/stint/lab/engine"
	"github.com/stint-go/stint/lab/experiment"
	"github.com/stint-go/stint/lab/measure"
)

// sleepTime is how long an item waits.
const sleepTime = time.Millisecond

// waiting measures items that wait. If the limit is the number of items, a
// goroutine per item is the fastest model; below it, goroutines that take the
// next item.
func (z sizes) waiting(yield func(experiment.Study) bool) {
	seen := map[string]bool{} // a quick run has duplicates
	for _, c := range []struct{ n, limit int }{{100, 100}, {1000, 1000}, {10_000, 10_000}, {100, 10}, {1000, 100}, {10_000, 100}} {
		n, limit := c.n, c.limit
		if n > 1000 { // the others are short already
			n, limit = z.n(n), min(limit, z.n(n))
		}
		kase := experiment.Case{Name: fmt.Sprintf("item=waiting/n=%d/limit=%d", n, limit), Doc: "items that sleep for 1 ms", Reference: "counter-1", Ops: z.ops, Main: c.n == 1000}
		loops := []engine.Loop{engine.Counter(1), engine.ErrgroupEach(), engine.ConcIter(), engine.Rill(), engine.Range(), engine.Each()}
		if n == limit {
			loops = append([]engine.Loop{engine.GoroutineEach()}, loops...)
			kase.Reference = "goroutines"
		}
		for _, l := range loops {
			kase.Models = append(kase.Models, experiment.Model{Model: l.Model, Run: sleeping(l, n, limit)})
		}
		claim := ratio(kase.Name, kase.Reference, 1.2)
		if n == limit {
			claim.Bar, claim.Stretch = 1.15, 1
		}
		if !seen[kase.Name] && !yield(experiment.One(kase, claims(stints, claim)...)) {
			return
		}
		seen[kase.Name] = true
	}
}

func sleeping(l engine.Loop, n, limit int) func(m *measure.Meter) error {
	return func(m *measure.Meter) error {
		var woken atomic.Int64
		body := engine.BodyOf(func(int) {
			time.Sleep(sleepTime)
			woken.Add(1)
		})
		m.Start()
		for range m.N {
			l.Run(n, limit, body)
		}
		m.Stop()
		if got := woken.Load(); got != int64(m.N*n) {
			return fmt.Errorf("%d items ran, want %d", got, m.N*n)
		}
		return nil
	}
}
