package conformance_test

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/internal/race"
)

// doing calls Do on n goroutines, whose caller waits for all of them.
func doing(l *stint.Limiter) run {
	return func(ctx context.Context, n int, f body, _ ...stint.Option) error {
		errs := make([]error, n)
		var wg sync.WaitGroup
		for i := range n {
			wg.Go(func() { errs[i] = l.Do(ctx, func(ctx context.Context) error { return f(ctx, i) }) })
		}
		wg.Wait()
		return errors.Join(errs...)
	}
}

// A context that outlives its Do borrows nothing: calls with it wait like others.
func TestDoIsOutlived(t *testing.T) {
	for _, inner := range []func(*stint.Limiter, context.Context) error{
		func(*stint.Limiter, context.Context) error { return nil },
		func(l *stint.Limiter, ctx context.Context) error { return l.Do(ctx, sleep(0)) },
	} {
		synctest.Test(t, func(t *testing.T) {
			l := stint.Limit(1)
			var late context.Context
			l.Do(t.Context(), func(ctx context.Context) error { late = ctx; return inner(l, ctx) })
			go l.Do(t.Context(), sleep(time.Second))
			synctest.Wait()
			equal(t, "TryDo", l.TryDo(late, sleep(0)), stint.ErrBusy)
			equal(t, "Do", l.Do(late, sleep(0)), nil)
			equal(t, "time passed", sinceBubble(), time.Second)
			equal(t, "call", stint.Range(late, 1, nothing, l), nil)
			equal(t, "permits out", l.Stats().Running, 0)
		})
	}
}

// A wait for a permit ends with its context, and the others keep their places. TryDo waits for
// nothing.
func TestDoCanBeGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := stint.Limit(1)
		busy := make(chan struct{})
		go l.Do(t.Context(), func(context.Context) error { <-busy; return nil })
		synctest.Wait()
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, errGone)
		defer cancel()
		calls := 0
		f := func(context.Context) error { calls++; return nil }
		equal(t, "Do", l.Do(ctx, f), errGone)
		equal(t, "time passed", sinceBubble(), time.Second)
		equal(t, "Do with a context that has ended", l.Do(ctx, f), errGone)
		equal(t, "TryDo with a context that has ended", l.TryDo(ctx, f), errGone)
		equal(t, "TryDo", l.TryDo(t.Context(), f), stint.ErrBusy)
		equal(t, "calls", calls, 0)
		close(busy)
		synctest.Wait()
		equal(t, "TryDo when idle", l.TryDo(t.Context(), f), nil)
		equal(t, "calls", calls, 1)
	})
}

// A panic and a Goexit pass through on the caller's goroutine, and return the permit.
func TestDoPassesPanicsOn(t *testing.T) {
	l := stint.Limit(1)
	for _, do := range []func(context.Context, func(context.Context) error) error{l.Do, l.TryDo} {
		equal(t, "recovered", recovered(func() { do(t.Context(), func(context.Context) error { panic("boom") }) }), any("boom"))
		leaving(func() { do(t.Context(), func(context.Context) error { runtime.Goexit(); return nil }) })
		equal(t, "permits out", l.Stats().Running, 0)
	}
}

// The function given to Overload is asked about the error of each Do, and overload lowers
// the limit, which counts as a backoff. Its panic passes through Do, and the permit is returned.
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
		equal(t, "error", l.Do(t.Context(), sleep(0)), nil)
		equal(t, "asked", asked, 0)
		for range 2 { // one may be chance
			equal(t, "error", l.Do(t.Context(), func(context.Context) error { return errBoom }), errBoom)
		}
		equal(t, "asked", asked, 2)
		equal(t, "backoffs", l.Stats().Backoffs, 1)
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
		if n := testing.AllocsPerRun(1000, func() { l.Do(bg, f) }); n != 1 {
			t.Errorf("%s: %v allocations, want 1", name, n)
		}
	}
}
