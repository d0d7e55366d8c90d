package loops

import (
	"context"
	"fmt"
	"math"

	"github.com/stint-go/stint/lab/engine"
	"github.com/stint-go/stint/lab/experiment"
	"github.com/stint-go/stint/lab/measure"
	"github.com/stint-go/stint/lab/report"
)

// parRange is the form of a loop that is given many indexes at a time.
const parRange = "par.Range"

// static is the loop cut by hand, which the tiny ones are compared with.
const static = "static"

// later is a claim about par.Range, which is judged once there is a model of
// that name.
func later(kase string) report.Claim {
	c := ratio(kase, static, 1.03)
	c.Model, c.Note = parRange, "comes with package par"
	return c
}

// tiny is many items of next to no work.
func (z sizes) tiny(yield func(study) bool) {
	n := z.n(1e6)
	_ = yield(z.line(z.n(1e3))) && yield(z.line(z.n(1e5))) && yield(z.line(z.n(1e7))) && yield(z.callback()) &&
		yield(z.million("pow", pow(n), engine.Loops(), 0)) && yield(z.million("empty", empty(n), fastLoops(), 0)) &&
		yield(z.million("pow", pow(n), fastLoops(), 1)) && yield(z.million("empty", empty(n), fastLoops(), 1))
}

// line is y += ax + b, which is bound by memory.
func (z sizes) line(n int) study {
	x, y := make([]uint32, n), make([]uint32, n)
	for i := range x {
		x[i] = uint32(i)
	}
	body := engine.Body{
		Plain: func(i int) { y[i] += 3*x[i] + 1 },
		Task:  func(_ context.Context, i int) error { y[i] += 3*x[i] + 1; return nil },
	}
	c := experiment.Case{Name: fmt.Sprintf("row=F1/n=%d", n), Doc: "y += ax + b", Reference: static, Ops: z.ops}
	for _, l := range []engine.Loop{engine.Plain(), engine.Static(), engine.Counter(1024), engine.Range()} {
		c.Models = append(c.Models, experiment.LoopModel(l, func(m *measure.Meter) error {
			clear(y)
			m.Start()
			for range m.N {
				l.Run(n, 0, body)
			}
			m.Stop()
			for i, got := range y {
				if want := uint32(m.N) * (3*x[i] + 1); got != want {
					return fmt.Errorf("y[%d] is %d, want %d", i, got, want)
				}
			}
			return nil
		}))
	}
	return study{[]experiment.Case{c}, []report.Claim{later(c.Name)}}
}

// callback is a function of two nanoseconds.
func (z sizes) callback() study {
	w := mixed(z.n(2e6))
	c := experiment.Case{Name: fmt.Sprintf("row=F2/n=%d", w.n), Doc: "items of about 2 ns", Reference: static, Ops: z.ops, Models: models(w, fastLoops())}
	return study{[]experiment.Case{c}, claims(ratio(c.Name, static, 1.05), ratio(c.Name, "conc", 0.1))}
}

// million is a million items, on all processors or on one, where no peer may
// be much faster.
func (z sizes) million(name string, w work, loops []engine.Loop, procs int) study {
	c := experiment.Case{
		Name: fmt.Sprintf("item=%s/n=%d", name, w.n), Doc: "items: " + name, Reference: static, Ops: z.ops, Processors: procs, Models: models(w, loops),
	}
	if procs == 1 {
		c.Name += "/procs=1"
		return study{[]experiment.Case{c}, claims(ratio(c.Name, report.BestPeer, 1.15))}
	}
	return study{[]experiment.Case{c}, append(claims(ratio(c.Name, static, 1.05)), later(c.Name))}
}

// pow is math.Pow, about 50 ns.
func pow(n int) work {
	out := make([]uint64, n)
	want := make([]uint64, n)
	for i := range want {
		want[i] = power(i)
	}
	return work{n: n, out: out, want: func(i int) uint64 { return want[i] }, body: engine.Body{
		Plain: func(i int) { out[i] += power(i) },
		Task:  func(_ context.Context, i int) error { out[i] += power(i); return nil },
	}}
}

func power(i int) uint64 { return math.Float64bits(math.Pow(3.1415926, float64(i))) }

// empty items compute nothing, so there is nothing to check: that each is run
// once is known from the other cases.
func empty(n int) work {
	return work{n: n, body: engine.Body{
		Plain: func(int) {},
		Task:  func(context.Context, int) error { return nil },
	}}
}
