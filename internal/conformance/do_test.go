package conformance_test

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/internal/race"
)

// Do and the calls and groups on one limiter never run more than it allows, together, and
// take exactly as long as that.
func TestDoIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := stint.Limit(3)
		var running, most atomic.Int32
		f := func(context.Context) error {
			n := running.Add(1)
			for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
			}
			time.Sleep(time.Second)
			running.Add(-1)
			return nil
		}
		start := time.Now()
		var callers sync.WaitGroup
		g := stint.NewGroup(t.Context(), l)
		for range 30 {
			callers.Go(func() { l.Do(t.Context(), f) })
			g.Go(f)
		}
		callers.Wait()
		if err := g.Wait(); err != nil {
			t.Error(err)
		}
		if most.Load() != 3 || time.Since(start) != 20*time.Second {
			t.Errorf("%d ran at once, for %v; want 3, for 20s", most.Load(), time.Since(start))
		}
	})
}

// Callers of Do are served in the order in which they came.
func TestDoIsFirstComeFirstServed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := stint.Limit(1)
		var order []int
		var callers sync.WaitGroup
		for i := range 20 {
			callers.Go(func() {
				l.Do(t.Context(), func(context.Context) error {
					order = append(order, i) // one at a time
					time.Sleep(time.Second)
					return nil
				})
			})
			synctest.Wait()
		}
		callers.Wait()
		for i, got := range order {
			if got != i {
				t.Fatalf("order %v", order)
			}
		}
	})
}

// Nested at limit 1, in Do and in tasks, a Do runs on the permit that is held.
func TestDoNests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := stint.Limit(1)
		depth := 0
		err := l.Do(t.Context(), func(ctx context.Context) error {
			return stint.Range(ctx, 3, func(ctx context.Context, _ int) error {
				return l.Do(ctx, func(ctx context.Context) error {
					return l.TryDo(ctx, func(context.Context) error { depth++; return nil })
				})
			}, l)
		})
		if err != nil || depth != 3 || l.Stats().Running != 0 {
			t.Errorf("got %v, %d calls and %d permits out", err, depth, l.Stats().Running)
		}
	})
}

// A wait for a permit ends with its context, and the others keep their places.
func TestDoCanBeGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := stint.Limit(1)
		busy := make(chan struct{})
		go l.Do(t.Context(), func(context.Context) error { <-busy; return nil })
		synctest.Wait()
		cause := errors.New("no time")
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, cause)
		defer cancel()
		called := false
		f := func(context.Context) error { called = true; return nil }
		start := time.Now()
		if err := l.Do(ctx, f); err != cause || time.Since(start) != time.Second {
			t.Errorf("got %v after %v", err, time.Since(start))
		}
		if err := l.Do(ctx, f); err != cause {
			t.Errorf("a context that has ended: got %v", err)
		}
		if err := l.TryDo(ctx, f); err != cause {
			t.Errorf("TryDo with a context that has ended: got %v", err)
		}
		if err := l.TryDo(t.Context(), f); err != stint.ErrBusy || called {
			t.Errorf("TryDo: got %v, called %v", err, called)
		}
		close(busy)
		synctest.Wait()
		if err := l.TryDo(t.Context(), f); err != nil || !called {
			t.Errorf("TryDo when idle: got %v, called %v", err, called)
		}
	})
}

// TryDo is refused while callers wait: a permit that becomes free goes to the next of them.
func TestTryDoIsRefusedBehindOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := stint.Limit(1)
		var callers sync.WaitGroup
		for range 2 {
			callers.Go(func() {
				l.Do(t.Context(), func(context.Context) error { time.Sleep(time.Second); return nil })
			})
		}
		time.Sleep(time.Second)
		if err := l.TryDo(t.Context(), func(context.Context) error { return nil }); err != stint.ErrBusy {
			t.Errorf("got %v", err)
		}
		callers.Wait()
	})
}

// A panic and a Goexit pass through on the caller's goroutine, and return the permit.
func TestDoPassesPanicsOn(t *testing.T) {
	l := stint.Limit(1)
	for _, do := range []func(context.Context, func(context.Context) error) error{l.Do, l.TryDo} {
		if v := recovered(func() { do(t.Context(), func(context.Context) error { panic("boom") }) }); v != "boom" {
			t.Errorf("recovered %v", v)
		}
		var ended sync.WaitGroup
		ended.Go(func() { do(t.Context(), func(context.Context) error { runtime.Goexit(); return nil }) })
		ended.Wait()
		if n := l.Stats().Running; n != 0 {
			t.Errorf("%d permits are out", n)
		}
	}
}

// The search of an adaptive limit sees the callers of Do: they wait, and they finish.
func TestDoTeachesTheSearch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := stint.Auto(1, 64)
		var callers sync.WaitGroup
		for range 64 {
			callers.Go(func() {
				for range 200 {
					l.Do(t.Context(), func(context.Context) error { time.Sleep(10 * time.Millisecond); return nil })
				}
			})
		}
		callers.Wait()
		history := l.Stats().History
		if got := max(l.Current(), history[len(history)-1].Limit); got != 64 { // a smaller one may be probed at the end
			t.Errorf("the limit of tasks that only sleep is %d, want 64; %+v", got, l.Stats().History)
		}
	})
}

// The function given to Overload is asked about the error of each Do, and overload lowers
// the limit. Its panic passes through Do, and the permit is returned.
func TestDoReportsOverload(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := 0
		l := stint.Auto(1, 64, stint.Overload(func(err error) bool {
			if asked++; asked > 2 {
				panic("broken")
			}
			return err == errBoom
		}))
		before := l.Current()
		equal(t, "error", l.Do(t.Context(), func(context.Context) error { return nil }), nil)
		equal(t, "asked", asked, 0)
		for range 2 { // one may be chance
			equal(t, "error", l.Do(t.Context(), func(context.Context) error { return errBoom }), errBoom)
		}
		equal(t, "asked", asked, 2)
		if n := l.Current(); n >= before {
			t.Errorf("the limit was %d, and is %d after two overloads", before, n)
		}
		v := recovered(func() { l.TryDo(t.Context(), func(context.Context) error { return errBoom }) })
		equal(t, "panic", v, any("broken"))
		equal(t, "permits held", l.Stats().Running, 0)
	})
}

// Do at a limit that is not reached allocates the held permit, which may outlive the call
// in a context.
func TestDoAllocates(t *testing.T) {
	if race.Enabled {
		t.Skip("the race detector allocates")
	}
	for name, l := range map[string]*stint.Limiter{"Limit": stint.Limit(2), "Auto": stint.Auto(2, 4)} {
		f := func(context.Context) error { return nil }
		if n := testing.AllocsPerRun(1000, func() { l.Do(context.Background(), f) }); n != 1 {
			t.Errorf("%s: %v allocations, want 1", name, n)
		}
	}
}
