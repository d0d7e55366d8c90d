package conformance_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/pprof"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/internal/goroutine"
)

// Idle workers end after exactly a second without work, each on its own.
func TestIdleWorkersExpire(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := stint.NewPool(stint.Limit(10))
		workers := func(at time.Duration, want int) {
			t.Helper()
			time.Sleep(at - sinceBubble())
			synctest.Wait()
			s := p.Stats()
			equal(t, at.String()+": workers", s.Workers, want)
			equal(t, at.String()+": goroutines", len(goroutine.Ours()), want)
		}
		for i := range 4 {
			p.Go(func(context.Context) { time.Sleep(time.Duration(i+1) * 100 * time.Millisecond) })
		}
		workers(0, 4)
		workers(1100*time.Millisecond-1, 4)
		workers(1100*time.Millisecond, 3)
		workers(1200*time.Millisecond, 2)
		workers(1400*time.Millisecond-1, 1)
		workers(1400*time.Millisecond, 0)
		workers(time.Hour, 0)
		p.Go(func(context.Context) { time.Sleep(time.Second) }) // and it goes on
		workers(time.Hour+2*time.Second-1, 1)
		workers(time.Hour+2*time.Second, 0)
		noneLeft(t)
		p.Close()
	})
}

// The worker that parked last is woken first, so that the workers of a burst end although
// the pool is in use.
func TestLastIdleWorkerIsUsedFirst(t *testing.T) {
	synctest.Test(t, lastIdleWorkerIsUsedFirst)
}

func lastIdleWorkerIsUsedFirst(t *testing.T) {
	p := stint.NewPool(stint.Limit(10))
	last := 0
	for i := range 10 {
		p.Go(func(context.Context) {
			time.Sleep(time.Duration(i) * time.Millisecond)
			if i == 9 {
				last = goroutine.ID()
			}
		})
	}
	p.Idle(bg)
	for range 20 { // a task each 0.1 s: one worker is enough
		synctest.Wait()
		p.Go(func(context.Context) { equal(t, "goroutine", goroutine.ID(), last) })
		time.Sleep(100 * time.Millisecond)
	}
	equal(t, "workers", p.Stats().Workers, 1)
	p.Close()
}

// Idle waits for the tasks of submitters that wait, too: between two tasks of a pool without
// a queue nothing is queued or running, and the next task is about to be.
func TestIdleWaitsForSubmitters(t *testing.T) {
	for _, queue := range []int{0, 1, 5, 64} {
		bubble(t, fmt.Sprint("queue=", queue), func(t *testing.T) {
			p := stint.NewPool(stint.Limit(1), stint.Queue(queue))
			defer p.Close()
			for range 20 {
				go p.Go(func(context.Context) { time.Sleep(time.Second) })
			}
			synctest.Wait()
			equal(t, "Idle", p.Idle(bg), nil)
			equal(t, "time passed", sinceBubble(), 20*time.Second)

			// Idle does not wait for a submitter that has given up.
			p.Go(func(context.Context) { time.Sleep(time.Hour) })
			short, cancel := context.WithTimeout(bg, time.Minute)
			defer cancel()
			for range queue + 1 {
				go p.GoContext(short, func(context.Context) { time.Sleep(time.Second) })
			}
			synctest.Wait()
			equal(t, "Idle", p.Idle(bg), nil)
			equal(t, "time passed", sinceBubble(), 20*time.Second+time.Hour+time.Duration(queue)*time.Second)
		})
	}
}

// The context of a task of GoContext has the values of the submitter's context, and ends
// with that of the pool or the group, not with that.
func TestGoContextKeepsValues(t *testing.T) {
	for name, open := range starters() {
		bubble(t, name, func(t *testing.T) {
			start, end := open()
			ctx, cancel := context.WithCancelCause(context.WithValue(bg, chainKey{}, "one"))
			ctx, stop := context.WithDeadline(ctx, time.Now().Add(time.Hour))
			defer stop()
			var kept context.Context
			release := make(chan struct{})
			equal(t, "GoContext", start(ctx, func(ctx context.Context) error { kept = ctx; <-release; return nil }), nil)
			synctest.Wait()
			cancel(errGone)
			synctest.Wait()
			equal(t, "value", kept.Value(chainKey{}), any("one"))
			equal(t, "error after the end of the submitter's context", kept.Err(), nil)
			equal(t, "cause", context.Cause(kept), nil)
			if _, has := kept.Deadline(); has {
				t.Error("there is a deadline")
			}
			close(release)
			end()
			equal(t, "it ends", kept.Err(), context.Canceled)
		})
	}
}

// A context that cannot be compared is used as any other.
func TestGoContextComparesNothing(t *testing.T) {
	type key struct{}
	type strange struct {
		context.Context
		_ []int
	}
	ctx := strange{Context: context.WithValue(bg, key{}, 1)}
	g := stint.NewGroup(ctx)
	g.GoContext(ctx, func(ctx context.Context) error {
		equal(t, "value", ctx.Value(key{}), any(1))
		return nil
	})
	equal(t, "error", g.Wait(), nil)
}

// A task of a named pool or group has the name among the labels of the submitter's context.
func TestGoContextKeepsLabels(t *testing.T) {
	p := stint.NewPool(stint.Name("crawler"))
	defer p.Close()
	g := stint.NewGroup(bg, stint.Name("crawler"))
	check := func(ctx context.Context) error {
		name, _ := pprof.Label(ctx, "stint")
		request, _ := pprof.Label(ctx, "request")
		equal(t, "labels", [2]string{name, request}, [2]string{"crawler", "7"})
		return nil
	}
	pprof.Do(bg, pprof.Labels("request", "7"), func(ctx context.Context) {
		p.GoContext(ctx, func(ctx context.Context) { check(ctx) })
		g.GoContext(ctx, check)
	})
	g.Wait()
}

// A task has the values of all tasks by which it was started, and of their groups; those of its
// submitter come first. The label of a call passes on, unless a group has a name.
func TestGoContextPassesValuesOn(t *testing.T) {
	type key int
	value := func(ctx context.Context, keys ...key) context.Context {
		for _, k := range keys {
			ctx = context.WithValue(ctx, k, fmt.Sprint(keys))
		}
		return ctx
	}
	for _, name := range []string{"", "call"} {
		first, second := stint.NewGroup(value(bg, 2, 4)), stint.NewGroup(value(bg, 3, 4))
		var found [4]any
		var label string
		next := func(ctx context.Context) error {
			for i := range found {
				found[i] = ctx.Value(key(i + 1))
			}
			label, _ = pprof.Label(ctx, "stint")
			return nil
		}
		first.GoContext(value(bg, 1), func(ctx context.Context) error {
			if name == "" {
				return second.GoContext(ctx, next)
			}
			return stint.Range(ctx, 1, func(ctx context.Context, _ int) error { return second.GoContext(ctx, next) }, stint.Name(name))
		})
		equal(t, "errors", errors.Join(first.Wait(), second.Wait()), nil)
		equal(t, "values", found, [4]any{"[1]", "[2 4]", "[3 4]", "[2 4]"})
		equal(t, "label", label, name)
	}
}

// Submitters that wait for a long queue are admitted one by one if tasks take long.
func TestLongQueueLetsOneIn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := stint.NewPool(stint.Limit(1), stint.Queue(64))
		for range 65 {
			p.Go(func(context.Context) { time.Sleep(time.Second) })
		}
		var wg sync.WaitGroup
		for i := range 20 {
			wg.Go(func() {
				p.Go(func(context.Context) { time.Sleep(time.Second) })
				equal(t, fmt.Sprint("submitter ", i, " is let in at"), sinceBubble(), time.Duration(i+1)*time.Second)
			})
			synctest.Wait()
		}
		wg.Wait()
		p.Close()
	})
}

// A pool with a parked worker that was made outside a bubble can be used inside
// one, as a pool in a package variable is by a test: the worker is outside.
func TestPoolFromOutsideTheBubble(t *testing.T) {
	p := stint.NewPool(stint.Limit(1))
	p.Go(func(context.Context) {})
	for p.Stats().Idle == 0 {
		runtime.Gosched()
	}
	var ran atomic.Bool
	synctest.Test(t, func(t *testing.T) {
		equal(t, "error", p.Go(func(context.Context) { ran.Store(true) }), nil)
	})
	p.Close()
	equal(t, "ran", ran.Load(), true)
}
