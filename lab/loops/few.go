package loops

import (
	"fmt"
	"runtime"
	"sync/atomic"

	"github.com/stint-go/stint/lab/engine"
	"github.com/stint-go/stint/lab/experiment"
	"github.com/stint-go/stint/lab/measure"
	"github.com/stint-go/stint/lab/report"
)

// few is so few tiny items that a loop is faster than any help.
func (z sizes) few(yield func(study) bool) {
	for _, n := range []int{1, 2, 10, 100, 1e3, 1e4} {
		w := mixed(n)
		c := experiment.Case{Name: fmt.Sprintf("row=F3/n=%d", n), Doc: "items of about 2 ns", Reference: "plain", Ops: z.ops}
		loops := []engine.Loop{engine.Plain(), engine.Static(), engine.GoroutineEach(), engine.ErrgroupEach(), engine.ConcIter(), engine.Range(), engine.Each()}
		for i, m := range models(w, loops) {
			c.Models = append(c.Models, started(m, loops[i], n))
		}
		bar := 400.0 // ns more than the plain loop
		if n > 100 {
			bar = 800
		}
		st := study{[]experiment.Case{c}, claims(report.Claim{Case: c.Name, Unit: measure.Time, Form: report.Difference, Than: "plain", Bar: bar})}
		if n == 1 || n == 1000 {
			st.claims = append(st.claims, claims(report.Claim{Case: c.Name, Unit: measure.Goroutines, Form: report.Value, Bar: 0})...)
		}
		if !yield(st) {
			return
		}
	}
}

// started looks after each sample, from inside the items, how many goroutines
// the loop starts.
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
