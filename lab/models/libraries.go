package models

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/alitto/pond/v2"
	"github.com/panjf2000/ants/v2"
	"github.com/sourcegraph/conc/iter"
	"github.com/sourcegraph/conc/pool"
	"github.com/stint-go/stint"
	"github.com/stint-go/stint/lab/bench"
	"github.com/stint-go/stint/par"
	"github.com/stint-go/stint/stream"
	"golang.org/x/sync/errgroup"
)

// The default pool of ants has a clock, which would tick during all measurements.
func init() { ants.Release() }

// A Named is a model with the name it has in results.
type Named struct {
	Name  string
	Model Model
}

// Each measures models as sub-benchmarks.
func Each(b *testing.B, prefix string, all []Named, measure func(*testing.B, Model)) {
	for _, m := range all {
		b.Run(prefix+m.Name, func(b *testing.B) { measure(b, m.Model) })
	}
}

// Computing returns libraries, a loop, and par.Reduce, which is for work that computes.
func Computing(limit int) []Named {
	return append(Libraries(limit), Named{"loop", Sequential}, Named{"par.Reduce", func(list []float64, f Item) uint64 {
		return par.Reduce(list, func() uint64 { return 0 }, adding(f), add)
	}})
}

// Libraries returns stint without an option, a goroutine for each number, and other libraries with a limit.
func Libraries(limit int) []Named {
	return []Named{
		{"stint.Map", func(list []float64, f Item) uint64 {
			one := func(_ context.Context, n float64) (uint64, error) { return f(n), nil }
			return total(bench.Must(stint.Map(context.Background(), list, one)))
		}},
		{"stint.Range", ByIndex(func(n int, f func(i int)) {
			bench.Check(stint.Range(context.Background(), n, func(_ context.Context, i int) error { f(i); return nil }))
		})},
		{"stream", func(list []float64, f Item) uint64 {
			return Streamed(stream.Buffer(stream.From(list), 256), 256, f, add)
		}},
		{"goroutines", func(list []float64, f Item) uint64 { return Parallelize(len(list))(list, f) }},
		{"errgroup", ByIndex(func(n int, f func(i int)) {
			var g errgroup.Group
			g.SetLimit(limit)
			for i := range n {
				g.Go(func() error { f(i); return nil })
			}
			bench.Check(g.Wait())
		})},
		{"conc.pool", ByIndex(func(n int, f func(i int)) {
			p := pool.New().WithMaxGoroutines(limit)
			for i := range n {
				p.Go(func() { f(i) })
			}
			p.Wait()
		})},
		{"conc.iter", func(list []float64, f Item) uint64 {
			m := iter.Mapper[float64, uint64]{MaxGoroutines: limit}
			return total(m.Map(list, func(n *float64) uint64 { return f(*n) }))
		}},
		{"ants", ByIndex(func(n int, f func(i int)) {
			p := bench.Must(ants.NewPool(limit))
			defer p.Release()
			var wg sync.WaitGroup
			wg.Add(n)
			for i := range n {
				bench.Check(p.Submit(func() { defer wg.Done(); f(i) }))
			}
			wg.Wait()
		})},
		{"pond", ByIndex(func(n int, f func(i int)) {
			p := pond.NewPool(limit)
			for i := range n {
				p.Submit(func() { f(i) })
			}
			p.StopAndWait()
		})},
	}
}

// A Task is a function in the forms that libraries take, so that none pays for another call.
type Task struct {
	Plain func()
	Pool  func(context.Context)
	Group func(context.Context) error
}

// A Runner runs a task n times, at most limit at once, and returns when all have run.
type Runner struct {
	Name string
	Run  func(n, limit int, t Task)
}

// started makes a Runner of what starts a task, and what waits for all.
func started(name string, open func(limit int, t Task) (start, wait func())) Runner {
	return Runner{name, func(n, limit int, t Task) {
		start, wait := open(limit, t)
		for range n {
			start()
		}
		wait()
	}}
}

// counted is for libraries that do not wait for tasks.
func counted(t Task, start func(f func())) (func(), func()) {
	var wg sync.WaitGroup
	f := func() { defer wg.Done(); t.Plain() }
	return func() { wg.Add(1); start(f) }, wg.Wait
}

// Runners are libraries and the models by hand.
var Runners = []Runner{
	started("goroutines", func(_ int, t Task) (_, _ func()) { return counted(t, func(f func()) { go f() }) }), // no limit
	started("channel", func(limit int, t Task) (_, _ func()) {
		var wg sync.WaitGroup
		work := make(chan func(), 1024)
		for range limit {
			wg.Go(func() {
				for f := range work {
					f()
				}
			})
		}
		return func() { work <- t.Plain }, func() { close(work); wg.Wait() }
	}),
	started("errgroup", func(limit int, t Task) (_, _ func()) {
		g, f := new(errgroup.Group), func() error { t.Plain(); return nil }
		g.SetLimit(limit)
		return func() { g.Go(f) }, func() { bench.Check(g.Wait()) }
	}),
	started("conc", func(limit int, t Task) (_, _ func()) {
		p := pool.New().WithMaxGoroutines(limit)
		return func() { p.Go(t.Plain) }, p.Wait
	}),
	started("ants", func(limit int, t Task) (_, _ func()) {
		p := bench.Must(ants.NewPool(limit))
		start, wait := counted(t, func(f func()) { bench.Check(p.Submit(f)) })
		return start, func() { wait(); p.Release() }
	}),
	started("pond", func(limit int, t Task) (_, _ func()) {
		p := pond.NewPool(limit)
		return func() { bench.Check(p.Go(t.Plain)) }, p.StopAndWait
	}),
	started("stint.Pool", func(limit int, t Task) (_, _ func()) {
		p := stint.NewPool(stint.Limit(limit))
		return func() { bench.Check(p.Go(t.Pool)) }, p.Close
	}),
	started("stint.Group", func(limit int, t Task) (_, _ func()) {
		g := stint.NewGroup(context.Background(), stint.Limit(limit))
		return func() { g.Go(t.Group) }, func() { bench.Check(g.Wait()) }
	}),
	{"stint.Each", func(n, limit int, t Task) {
		f := func(ctx context.Context, _ struct{}) error { return t.Group(ctx) }
		bench.Check(stint.Each(context.Background(), make([]struct{}, n), f, stint.Limit(limit)))
	}},
}

// Count runs f n times, at most limit at once, and returns how often it ran.
func (r Runner) Count(n, limit int, f func()) int {
	var ran atomic.Int64
	count := func() { f(); ran.Add(1) }
	r.Run(n, limit, Task{count, func(context.Context) { count() }, func(context.Context) error { count(); return nil }})
	return int(ran.Load())
}

// ByIndex adapts a library that calls f with the indexes from 0 to n-1.
func ByIndex(run func(n int, f func(i int))) Model {
	return func(list []float64, f Item) uint64 {
		results := make([]uint64, len(list))
		run(len(list), func(i int) { results[i] = f(list[i]) })
		return total(results)
	}
}

func total(results []uint64) (sum uint64) {
	for _, v := range results {
		sum += v
	}
	return sum
}
