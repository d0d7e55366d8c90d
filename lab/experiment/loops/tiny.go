package loops

import (
	"context"
	"fmt"
	"iter"
	"math"

	"github.com/stint-go/stint/lab/engine"
	"github.com/stint-go/stint/lab/experiment"
	"github.com/stint-go/stint/lab/measure"
	"github.com/stint-go/stint/lab/result"
)

// Loops cut by hand, which the tiny loops are compared with.
const (
	static      = "static"
	staticRange = "static-range"
	plainRange  = "plain-range"
)

// tiny measures many items of almost no work.
func (z sizes) tiny(yield func(experiment.Study) bool) {
	all(yield, z.line(z.n(1e3)), z.line(z.n(1e5)), z.line(z.n(1e7)), z.callback(),
		z.million("empty", empty, fastLoops(), 0), z.million("pow", pow, fastLoops(), 1), z.million("empty", empty, fastLoops(), 1))
}

// slow adds loops that hand over each item. It comes last, since the runtime
// keeps the memory of their goroutines.
func (z sizes) slow(yield func(experiment.Study) bool) {
	z.million("pow", pow, append(fastLoops(), engine.GoroutineEach(), engine.ErrgroupEach(), engine.Rill()), 0)(yield)
}

// line measures y += ax + b, which is bound by memory.
func (z sizes) line(n int) iter.Seq[experiment.Study] {
	return func(yield func(experiment.Study) bool) {
		l := newLine(n)
		c := experiment.Case{Name: fmt.Sprintf("item=line/n=%d", n), Doc: "y += ax + b", Reference: static, Ops: z.ops}
		c.Models = l.models([]engine.Loop{engine.Plain(), engine.Static(), engine.Counter(1024), engine.Range(), engine.ParEach()})
		ranges := rangeForm(c, l.models(rangeLoops()))
		if n <= maxTinyLoop {
			ranges.Claims = append(ranges.Claims, ofRange(atMostMore(formRange(c.Name), plainRange, n))...)
		}
		_ = yield(experiment.One(c)) && yield(ranges)
	}
}

// A line holds the data of y += ax + b.
type line struct{ x, y []uint32 }

func newLine(n int) line {
	l := line{make([]uint32, n), make([]uint32, n)}
	for i := range l.x {
		l.x[i] = uint32(i)
	}
	return l
}

func (l line) models(loops []engine.Loop) []experiment.Model {
	x, y := l.x, l.y
	body := engine.Body{
		Plain:   func(i int) { y[i] += 3*x[i] + 1 },
		Task:    func(_ context.Context, i int) error { y[i] += 3*x[i] + 1; return nil },
		Pointer: func(i *int) { y[*i] += 3*x[*i] + 1 },
		Range: func(lo, hi int) {
			for i := lo; i < hi; i++ {
				y[i] += 3*x[i] + 1
			}
		},
	}
	var out []experiment.Model
	for _, loop := range loops {
		out = append(out, experiment.Model{Model: loop.Model, Run: func(m *measure.Meter) error {
			clear(y)
			m.Start()
			for range m.N {
				loop.Run(len(x), 0, body)
			}
			m.Stop()
			for i, got := range y {
				if want := uint32(m.N) * (3*x[i] + 1); got != want {
					return fmt.Errorf("y[%d] is %d, want %d", i, got, want)
				}
			}
			return nil
		}})
	}
	return out
}

// rangeForm compares the loops that take a range, in a case of their own: beside
// slow loops their samples would be short.
func rangeForm(c experiment.Case, models []experiment.Model) experiment.Study {
	c.Name, c.Reference, c.Models = formRange(c.Name), staticRange, models
	return experiment.One(c, ofRange(ratio(c.Name, staticRange, 1.03))...)
}

// callback measures a function of 2 ns.
func (z sizes) callback() iter.Seq[experiment.Study] {
	return func(yield func(experiment.Study) bool) {
		w := mixed(z.n(2e6))
		c := experiment.Case{Name: fmt.Sprintf("many=mixed/n=%d", w.n), Doc: "items of about 2 ns", Reference: static, Ops: z.ops, Models: models(w, fastLoops()), Main: true}
		calls := experiment.One(c, claims(callers, ratio(c.Name, static, 1.05), ratio(c.Name, "conc", 0.1))...)
		_ = yield(calls) && yield(rangeForm(c, models(w, rangeLoops())))
	}
}

// million measures a million items, on all processors or on one, where no peer
// may be much faster.
func (z sizes) million(name string, make func(n int) work, loops []engine.Loop, procs int) iter.Seq[experiment.Study] {
	return func(yield func(experiment.Study) bool) {
		w := make(z.n(1e6))
		c := experiment.Case{
			Name: fmt.Sprintf("item=%s/n=%d", name, w.n), Doc: "items: " + name, Reference: static, Ops: z.ops, Models: models(w, loops),
		}
		bar := ratio("", static, 1.05)
		if procs == 1 {
			c = c.OnOne()
			bar = ratio("", result.BestPeer, 1.15)
		}
		bar.Case = c.Name
		ranges := rangeForm(c, models(w, rangeLoops()))
		if procs == 1 {
			ranges.Claims = append(ranges.Claims, ofRange(ratio(formRange(c.Name), plainRange, 1.05))...)
		}
		_ = yield(experiment.One(c, claims(callers, bar)...)) && yield(ranges)
	}
}

// pow is math.Pow, about 50 ns.
func pow(n int) work {
	out := make([]uint64, n)
	want := make([]uint64, n)
	for i := range want {
		want[i] = power(i)
	}
	return work{n: n, out: out, want: func(i int) uint64 { return want[i] }, body: engine.Body{
		Plain:   func(i int) { out[i] += power(i) },
		Task:    func(_ context.Context, i int) error { out[i] += power(i); return nil },
		Pointer: func(i *int) { out[*i] += power(*i) },
		Range: func(lo, hi int) {
			for i := lo; i < hi; i++ {
				out[i] += power(i)
			}
		},
	}}
}

func power(i int) uint64 { return math.Float64bits(math.Pow(3.1415926, float64(i))) }

// empty items compute nothing, so there is nothing to check; other cases show
// that each item runs once.
func empty(n int) work {
	return work{n: n, body: engine.Body{
		Plain:   func(int) {},
		Task:    func(context.Context, int) error { return nil },
		Pointer: func(*int) {},
		Range: func(lo, hi int) {
			for i := lo; i < hi; i++ { // not removed by the compiler
			}
		},
	}}
}
