package tiny

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"time"

	"github.com/sourcegraph/conc/pool"
	"github.com/stint-go/stint"
	"github.com/stint-go/stint/lab/experiment"
	"github.com/stint-go/stint/lab/measure"
	"github.com/stint-go/stint/lab/result"
	"golang.org/x/sync/errgroup"
)

// single compares running and awaiting one task.
func (z sizes) single() experiment.Case {
	model := func(name string, kind result.Kind, doc string, run func(f func())) experiment.Model {
		return experiment.Model{Model: kind.Model(name, doc), Run: func(m *measure.Meter) error {
			return repeat(m, run)
		}}
	}
	return experiment.Case{
		Name: "tasks=1", Doc: "an op is a group, one task, and waiting for it", Reference: "single-goroutine", Ops: z.ops, Main: true,
		Models: []experiment.Model{
			model("single-goroutine", result.Peer, "sync.WaitGroup.Go", func(f func()) {
				var wg sync.WaitGroup
				wg.Go(f)
				wg.Wait()
			}),
			model("single-errgroup", result.Peer, "errgroup.WithContext", func(f func()) {
				g, _ := errgroup.WithContext(context.Background())
				g.Go(func() error { f(); return nil })
				g.Wait()
			}),
			model("single-conc", result.Peer, "pool.New().WithContext", func(f func()) {
				p := pool.New().WithContext(context.Background())
				p.Go(func(context.Context) error { f(); return nil })
				p.Wait()
			}),
			model("single-stint.Group", result.Ours, "NewGroup", func(f func()) {
				g := stint.NewGroup(context.Background())
				g.Go(func(context.Context) error { f(); return nil })
				g.Wait()
			}),
		},
	}
}

// repeat measures run with an empty task, and then counts the goroutines from
// inside a task.
func repeat(m *measure.Meter, run func(f func())) error {
	m.Start()
	for range m.N {
		run(func() {})
	}
	m.Stop()
	before, inside, ran := runtime.NumGoroutine(), 0, 0
	run(func() { inside = runtime.NumGoroutine(); ran++ })
	if ran != 1 {
		return fmt.Errorf("one task ran %d times", ran)
	}
	m.Report(measure.Goroutines, float64(inside-before))
	return nil
}

// waiting measures a pool whose workers have expired.
func (z sizes) waiting() experiment.Case {
	return experiment.Case{
		Name: "idle", Doc: fmt.Sprintf("%v without work, after the workers' expiry", z.idle), Reference: "nothing", Ops: 1, Count: 6,
		Models: []experiment.Model{
			{Model: result.Floor.Model("nothing", "the laboratory itself"), Run: func(m *measure.Meter) error {
				z.watch(m, runtime.NumGoroutine())
				return nil
			}},
			{Model: result.Ours.Model("idle-stint.Pool", "NewPool with Limit(100), 1,000 tasks, then none"), Run: z.idlePool},
		},
	}
}

func (z sizes) idlePool(m *measure.Meter) error {
	if m.Round < 0 { // no warm-up, since the expiry takes a second
		return nil
	}
	before := runtime.NumGoroutine()
	p := stint.NewPool(stint.Limit(100))
	defer p.Close()
	for range 1000 {
		if err := p.Go(func(context.Context) { time.Sleep(10 * time.Microsecond) }); err != nil {
			return err
		}
	}
	// Idle workers end after a second. No call waits for it.
	for deadline := time.Now().Add(5 * time.Second); p.Stats().Workers > 0 && time.Now().Before(deadline); {
		time.Sleep(20 * time.Millisecond)
	}
	z.watch(m, before)
	if done := p.Stats().Completed; done != 1000 {
		return fmt.Errorf("%d of 1000 tasks ran", done)
	}
	return nil
}

// watch reports what this process uses while it is idle.
func (z sizes) watch(m *measure.Meter, before int) {
	m.Report(measure.Goroutines, float64(runtime.NumGoroutine()-before))
	from, ok := measure.OwnCPU()
	began := time.Now()
	time.Sleep(z.idle)
	to, _ := measure.OwnCPU()
	if ok {
		m.Report(measure.IdleCPU, float64((to-from).Nanoseconds())/time.Since(began).Seconds())
	}
}
