package stint

import (
	"context"
	"fmt"
	"runtime"
	"runtime/pprof"

	"github.com/stint-go/stint/internal/loop"
)

// Each calls f for every item and returns when every call that was begun has
// returned. The calls run on the caller's goroutine and on as many others as the
// limit allows and the work can use; with one item on the caller's alone. Given a
// Pool, they run on its workers instead. The limit without an option is
// GOMAXPROCS, which is right for work that computes; work that waits, for a
// network or a disk, wants a Limit.
//
// The first error cancels the context that f is given, keeps further calls from
// starting, and is returned; under KeepGoing all errors are. When ctx ends before
// every item was begun, the cause is returned. A panic cancels the rest and is
// raised again in the caller as a *PanicError. A call of runtime.Goexit is
// ErrGoexit; on the caller's own goroutine it cannot be stopped, and ends that
// goroutine after the other calls have returned.
//
// Options: a Limiter or a Pool, KeepGoing, Name. Each panics if ctx or f is nil.
// It does not change items, and does not keep it.
func Each[T any](ctx context.Context, items []T, f func(context.Context, T) error, opts ...Option) error {
	check("Each", ctx, f == nil)
	return forEach("Each", ctx, len(items), func(ctx context.Context, i int) error {
		return f(ctx, items[i])
	}, opts)
}

// Range calls f for every index from 0 to n-1, as Each does for items. It panics
// if n is negative.
func Range(ctx context.Context, n int, f func(ctx context.Context, i int) error, opts ...Option) error {
	check("Range", ctx, f == nil)
	if n < 0 {
		panic(fmt.Sprintf("stint: Range: n is %d, want 0 or more", n))
	}
	return forEach("Range", ctx, n, f, opts)
}

// forEach is Range for the function called caller.
func forEach(caller string, ctx context.Context, n int, f func(context.Context, int) error, opts []Option) error {
	o := collect(caller, loopOptions, opts)
	if n == 0 {
		return nil
	}
	var v verdict
	v.init(ctx, &o)
	if o.name != "" {
		pprof.SetGoroutineLabels(&v.ctx)
		defer pprof.SetGoroutineLabels(ctx)
	}
	l := &loop.Loop{
		N: n, Context: &v.ctx, Body: f, Name: o.name,
		Failed:  v.failed,
		Abandon: func() { v.fail(ErrClosed) },
	}
	switch {
	case o.pool != nil:
		l.Engine = o.pool.engine
	case o.limiter != nil:
		l.Limiter = o.limiter.core
	default:
		l.Limit = runtime.GOMAXPROCS(0)
	}
	returned := false
	defer func() {
		if !returned { // a call of f has called Goexit on this goroutine
			v.close(true)
			v.raise()
		}
	}()
	if !l.Run() {
		v.refuse()
	}
	returned = true
	v.close(l.Complete())
	return v.result()
}
