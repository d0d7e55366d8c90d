package loops

import (
	"context"
	"fmt"
	"time"

	"github.com/stint-go/stint/lab/engine"
	"github.com/stint-go/stint/lab/experiment"
	"github.com/stint-go/stint/lab/load"
	"github.com/stint-go/stint/lab/measure"
)

// nested measures loops inside a loop.
func (z sizes) nested(yield func(experiment.Study) bool) {
	const outer = 100
	inner := z.n(1000)
	w := spinning(alike(outer*inner, load.Steps(100*time.Nanosecond)))
	c := experiment.Case{Name: fmt.Sprintf("loop=nested/n=%dx%d", outer, inner), Doc: "loops over items of 100 ns, in a loop", Reference: "plain", Ops: z.ops}
	for _, l := range append(fastLoops(), engine.ParRange(), engine.GoroutineEach()) {
		run := func(o int) {
			l.Run(inner, 0, engine.Body{
				Plain:   func(i int) { w.body.Plain(o*inner + i) },
				Task:    func(ctx context.Context, i int) error { return w.body.Task(ctx, o*inner+i) },
				Pointer: func(i *int) { w.body.Plain(o*inner + *i) },
				Range:   func(lo, hi int) { w.body.Range(o*inner+lo, o*inner+hi) },
			})
		}
		c.Models = append(c.Models, experiment.Model{Model: l.Model, Run: func(m *measure.Meter) error {
			w.clear()
			m.Start()
			for range m.N {
				l.Run(outer, 0, engine.BodyOf(run))
			}
			m.Stop()
			return w.check(m.N)
		}})
	}
	yield(experiment.One(c, claims(ours, ratio(c.Name, "plain", 1.1/z.p))...))
}

// cold measures loops that each follow 2 ms without work, so that sleeping
// processors must be woken. The pause is not measured.
func (z sizes) cold(yield func(experiment.Study) bool) {
	const pause = 2 * time.Millisecond
	for _, total := range []time.Duration{50 * time.Microsecond, 500 * time.Microsecond, 5 * time.Millisecond} {
		w := spinning(alike(int(total/(100*time.Nanosecond)), load.Steps(100*time.Nanosecond)))
		c := experiment.Case{Name: "loop=cold/work=" + total.String(), Doc: "items of 100 ns, each loop after 2 ms of sleep", Reference: "plain", Ops: z.waits}
		loops := []engine.Loop{engine.Plain(), engine.Static(), engine.Counter(1024), engine.ConcIter(), engine.Range(), engine.Each(), engine.ParEach(), engine.ParRange()}
		for _, l := range loops {
			c.Models = append(c.Models, experiment.Model{Model: l.Model, Run: func(m *measure.Meter) error {
				w.clear()
				m.Start()
				sum := time.Duration(0)
				for range m.N {
					time.Sleep(pause)
					began := time.Now()
					l.Run(w.n, 0, w.body)
					sum += time.Since(began)
				}
				m.Stop()
				m.Report(measure.Time, float64(sum.Nanoseconds())/float64(m.N))
				return w.check(m.N)
			}})
		}
		if !yield(experiment.One(c, claims(ours, ratio(c.Name, "plain", 1.1))...)) {
			return
		}
	}
}
