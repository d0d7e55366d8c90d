package loops

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"time"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/lab/engine"
	"github.com/stint-go/stint/lab/experiment"
	"github.com/stint-go/stint/lab/load"
	"github.com/stint-go/stint/lab/measure"
	"github.com/stint-go/stint/lab/result"
	"golang.org/x/sync/errgroup"
)

// work holds the items of a loop, each of which adds its result to a number.
type work struct {
	limit int // 0: none
	body  engine.Body
	out   []uint64
	want  func(i int) uint64 // what item i adds
}

// models returns loops that do the work.
func (w work) models(loops []engine.Loop) []experiment.Model {
	var out []experiment.Model
	for _, l := range loops {
		out = append(out, experiment.Model{Model: l.Model, Run: func(m *measure.Meter) error {
			clear(w.out)
			m.Start()
			for range m.N {
				l.Run(len(w.out), w.limit, w.body)
			}
			m.Stop()
			for i, got := range w.out {
				if want := uint64(m.N) * w.want(i); got != want {
					return fmt.Errorf("item %d of %d added %d, want %d", i, len(w.out), got, want)
				}
			}
			return nil
		}})
	}
	return out
}

// The functions below return the models of a case.

// mixed items take about 2 ns. mix is inlined in all forms.
func mixed(n int, loops []engine.Loop) func() []experiment.Model {
	return func() []experiment.Model {
		out := make([]uint64, n)
		return work{out: out, want: mix, body: engine.Body{
			Plain:   func(i int) { out[i] += mix(i) },
			Task:    func(_ context.Context, i int) error { out[i] += mix(i); return nil },
			Pointer: func(i *int) { out[*i] += mix(*i) },
			Range: func(lo, hi int) {
				for i := lo; i < hi; i++ {
					out[i] += mix(i)
				}
			},
		}}.models(loops)
	}
}

// mix is small enough to be inlined.
func mix(i int) uint64 {
	x := uint64(i) * 0x9e3779b97f4a7c15
	x ^= x >> 29
	return x * 0xbf58476d1ce4e5b9
}

// spinning items compute for the given times.
func spinning(cost []time.Duration, loops []engine.Loop) func() []experiment.Model {
	return func() []experiment.Model {
		steps, out, want := make([]int, len(cost)), make([]uint64, len(cost)), make([]uint64, len(cost))
		for i, d := range cost {
			steps[i] = load.Steps(d)
			want[i] = load.Spin(steps[i])
		}
		body := engine.BodyOf(func(i int) { out[i] += load.Spin(steps[i]) })
		return work{body: body, out: out, want: func(i int) uint64 { return want[i] }}.models(loops)
	}
}

// rising returns times of 0 to 12 µs.
func rising(n int) []time.Duration {
	cost := make([]time.Duration, n)
	for i := range cost {
		cost[i] = 12 * time.Microsecond * time.Duration(i) / time.Duration(n)
	}
	return cost
}

// zipf returns times of 1 µs on average, the k-th largest a k-th of the
// largest, in random but fixed order.
func zipf(n int) []time.Duration {
	sum, cost := 0.0, make([]time.Duration, n)
	for k := range n {
		sum += 1 / float64(k+1)
	}
	for i, k := range rand.New(rand.NewPCG(3, 4)).Perm(n) {
		cost[i] = time.Duration(1000 * float64(n) / float64(k+1) / sum)
	}
	return cost
}

// nested returns loops that run parts of the indexes as loops, in a loop.
func nested(loops []engine.Loop, parts int) []engine.Loop {
	var out []engine.Loop
	for _, l := range loops {
		run := l.Run
		l.Run = func(n, _ int, b engine.Body) {
			inner := n / parts
			run(parts, 0, engine.BodyOf(func(o int) {
				run(inner, 0, engine.BodyOf(func(i int) { b.Plain(o*inner + i) }))
			}))
		}
		out = append(out, l)
	}
	return out
}

// sleeping items wait.
func sleeping(n, limit int, loops []engine.Loop) func() []experiment.Model {
	return func() []experiment.Model {
		out := make([]uint64, n)
		body := engine.BodyOf(func(i int) {
			time.Sleep(time.Millisecond)
			out[i]++
		})
		return work{limit: limit, body: body, out: out, want: func(int) uint64 { return 1 }}.models(loops)
	}
}

// errEnough ends a loop.
var errEnough = errors.New("enough")

// A fallible loop ends at the first error of an item, or when ctx ends.
type fallible func(ctx context.Context, n int, item func(i int) error) error

// ended loops over n items of 100 ns end early. Their time is how long they continue.
func ended(n int, byError bool) func() []experiment.Model {
	model := func(m result.Model, run fallible) experiment.Model {
		return experiment.Model{Model: m, Run: func(m *measure.Meter) error {
			m.Start()
			late, err := lateness(run, n, byError)
			m.Stop()
			m.Report(measure.Time, float64(late.Nanoseconds()))
			return err
		}}
	}
	return func() []experiment.Model {
		return []experiment.Model{
			model(result.Peer.Model("ctx-errgroup", "errgroup.WithContext, SetLimit(GOMAXPROCS), the context asked before each item"), endErrgroup),
			model(engine.Range().Model, func(ctx context.Context, n int, item func(int) error) error {
				return stint.Range(ctx, n, func(_ context.Context, i int) error { return item(i) })
			}),
		}
	}
}

// lateness makes item n/8 fail or end the context, and returns how long the loop continues
// after it.
func lateness(run fallible, n int, byError bool) (time.Duration, error) {
	steps := load.Steps(100 * time.Nanosecond)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var at time.Time // written by one item, read when all have finished
	err := run(ctx, n, func(i int) error {
		runtime.KeepAlive(load.Spin(steps))
		if i != n/8 {
			return nil
		}
		at = time.Now()
		if byError {
			return errEnough
		}
		cancel()
		return nil
	})
	late := time.Since(at)
	want := context.Canceled
	if byError {
		want = errEnough
	}
	if at.IsZero() || !errors.Is(err, want) {
		return 0, fmt.Errorf("the loop returned %v, want %v", err, want)
	}
	return late, nil
}

func endErrgroup(ctx context.Context, n int, item func(int) error) error {
	g, running := errgroup.WithContext(ctx)
	g.SetLimit(runtime.GOMAXPROCS(0))
	for i := 0; i < n && running.Err() == nil; i++ {
		g.Go(func() error { return item(i) })
	}
	return cmp.Or(g.Wait(), ctx.Err()) // Wait knows nothing of the caller's context
}
