// Package permits measures what a permit costs a goroutine that runs a function with it:
// Limiter.Do and TryDo beside semaphores, and the bulkhead and the adaptive limiter of
// failsafe-go.
package permits

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/stint-go/stint/lab/experiment"
	"github.com/stint-go/stint/lab/measure"
	"github.com/stint-go/stint/lab/result"
)

// Experiment is the experiment permits.
var Experiment = experiment.New("permits", "what a permit costs the caller's own goroutine: free, waited for, and refused",
	sizes{checked: 1000}, sizes{checked: 1000}, run)

// sizes are smaller in tests.
type sizes struct {
	ops     int // calls per sample; 0: chosen by time
	checked int // calls counted after each sample
}

const limit = 8

func run(ctx context.Context, s *experiment.Session, z sizes) (*result.Result, error) {
	b := s.NewBench("permits", "a function that runs with one of 8 permits, on the caller's goroutine",
		"An op is: get a permit, call the function, return the permit.",
		"The function gets a context. That of stint has the permit, for nested calls, so it is allocated. semaphore-context makes such a context by hand.",
		"The calls are not counted while they are timed: after each sample 1,000 that are show that no more than 8 run at once.")
	return b.Conclude(measureAll(ctx, b, z))
}

func measureAll(ctx context.Context, b *experiment.Bench, z sizes) error {
	claim(b)
	for _, c := range z.cases() {
		if err := b.Measure(ctx, c); err != nil {
			return err
		}
	}
	return nil
}

func (z sizes) cases() []experiment.Case {
	const ref = "semaphore.Weighted"
	pause := func(context.Context) error { time.Sleep(20 * time.Microsecond); return nil }
	free := experiment.Case{Name: "callers=1", Doc: "an op is an empty function, with a permit that is free", Reference: ref, Ops: z.ops, Main: true}
	crowd := experiment.Case{Name: "callers=64", Doc: "an op is an empty function, called by 64 goroutines, of which few wait", Reference: ref, Ops: z.ops, Main: true}
	yields := experiment.Case{Name: "callers=64/yield", Doc: "an op yields its processor, called by 64 goroutines: most wait", Reference: ref, Ops: z.ops}
	waits := experiment.Case{Name: "callers=64/sleep=20us", Doc: "an op is a sleep of 20 µs, called by 64 goroutines", Reference: ref, Ops: cmp.Or(z.ops, 64*50)}
	refused := experiment.Case{Name: "refused", Doc: "an op is a refusal: all permits are held", Reference: ref, Ops: z.ops}
	yield := func(context.Context) error { runtime.Gosched(); return nil }
	for _, m := range models() {
		free.Models = append(free.Models, z.calls(m, 1, nothing))
		crowd.Models = append(crowd.Models, z.calls(m, 64, nothing))
		if m.Kind != result.Floor {
			yields.Models = append(yields.Models, z.calls(m, 64, yield))
			waits.Models = append(waits.Models, z.calls(m, 64, pause))
			refused.Models = append(refused.Models, refusals(m))
		}
	}
	return []experiment.Case{free, crowd, yields, waits, refused}
}

// calls measures f with permits, called by some goroutines, and then counts who runs at once.
func (z sizes) calls(x model, callers int, f body) experiment.Model {
	return experiment.Model{Model: x.Model, Run: func(m *measure.Meter) error {
		do, _ := x.open()
		m.Start()
		err := spread(do, m.N, callers, f)
		m.Stop()
		if err != nil {
			return err
		}
		return check(do, z.checked, max(callers, 2*limit))
	}}
}

// spread makes n calls on some goroutines.
func spread(do do, n, callers int, f body) error {
	if callers == 1 {
		for range n {
			if err := do(context.Background(), f); err != nil {
				return err
			}
		}
		return nil
	}
	var wg sync.WaitGroup
	errs := make(chan error, callers)
	for i := range callers {
		wg.Go(func() {
			for range n*(i+1)/callers - n*i/callers {
				if err := do(context.Background(), f); err != nil {
					errs <- err
					return
				}
			}
		})
	}
	wg.Wait()
	close(errs)
	return <-errs
}

// check makes n calls that count how many run at once.
func check(do do, n, callers int) error {
	var now, most, all atomic.Int64
	err := spread(do, n, callers, func(context.Context) error {
		k := now.Add(1)
		for old := most.Load(); k > old && !most.CompareAndSwap(old, k); old = most.Load() {
		}
		all.Add(1)
		now.Add(-1)
		return nil
	})
	if err == nil && (most.Load() > limit || all.Load() != int64(n)) {
		err = fmt.Errorf("%d calls, %d at once; want %d, and %d at most", all.Load(), most.Load(), n, limit)
	}
	return err
}

// refusals measures calls that are refused, while all permits are held.
func refusals(x model) experiment.Model {
	return experiment.Model{Model: x.Model, Run: func(m *measure.Meter) error {
		do, try := x.open()
		var holders, holding sync.WaitGroup
		release := make(chan struct{})
		holding.Add(limit)
		for range limit {
			holders.Go(func() {
				do(context.Background(), func(context.Context) error { holding.Done(); <-release; return nil })
			})
		}
		holding.Wait()
		accepted := 0
		m.Start()
		for range m.N {
			if try(context.Background(), nothing) {
				accepted++
			}
		}
		m.Stop()
		close(release)
		holders.Wait()
		if accepted > 0 {
			return fmt.Errorf("%d of %d calls were accepted beyond the limit", accepted, m.N)
		}
		return nil
	}}
}
