package loops

import (
	"fmt"
	"runtime"
	"sync/atomic"

	"github.com/stint-go/stint/lab/engine"
	"github.com/stint-go/stint/lab/experiment"
	"github.com/stint-go/stint/lab/measure"
	"github.com/stint-go/stint/lab/result"
)

// few measures lists so short that a loop is faster than any helper.
func (z sizes) few(yield func(experiment.Study) bool) {
	for _, n := range []int{1, 2, 10, 100, 1e3, 1e4} {
		w := mixed(n)
		c := experiment.Case{Name: fmt.Sprintf("few=mixed/n=%d", n), Doc: "items of about 2 ns", Reference: "plain", Ops: z.ops}
		loops := []engine.Loop{engine.Plain(), engine.Static(), engine.GoroutineEach(), engine.ErrgroupEach(), engine.ConcIter(), engine.Range(), engine.Each(), engine.ParEach()}
		for i, m := range models(w, loops) {
			c.Models = append(c.Models, started(m, loops[i], n))
		}
		calls := experiment.One(c, claims(callers, atMostMore(c.Name, "plain", n))...)
		c.Name, c.Reference, c.Models = formRange(c.Name), plainRange, nil
		for i, m := range models(w, rangeLoops()) {
			c.Models = append(c.Models, started(m, rangeLoops()[i], n))
		}
		ranges := experiment.One(c, ofRange(atMostMore(c.Name, plainRange, n))...)
		if n == 1 || n == 1000 {
			calls.Claims = append(calls.Claims, claims(callers, noGoroutines(calls.Cases[0].Name))...)
			ranges.Claims = append(ranges.Claims, ofRange(noGoroutines(c.Name))...)
		}
		if !yield(calls) || !yield(ranges) {
			return
		}
	}
}

// noGoroutines claims that a loop starts no goroutine.
func noGoroutines(kase string) result.Claim {
	return result.Claim{Case: kase, Unit: measure.Goroutines, Form: result.Value, Bar: 0}
}

// started also reports, after each sample, how many goroutines the loop starts,
// as seen by its items.
func started(m experiment.Model, l engine.Loop, n int) experiment.Model {
	measured := m.Run
	m.Run = func(m *measure.Meter) error {
		if err := measured(m); err != nil {
			return err
		}
		before := runtime.NumGoroutine()
		var most atomic.Int64
		l.Run(n, 0, engine.BodyOf(func(int) {
			now := int64(runtime.NumGoroutine() - before)
			for old := most.Load(); now > old && !most.CompareAndSwap(old, now); old = most.Load() {
			}
		}))
		m.Report(measure.Goroutines, float64(most.Load()))
		return nil
	}
	return m
}
