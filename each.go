package stint

import (
	"context"
	"fmt"
	"runtime"

	"github.com/stint-go/stint/internal/limit"
	"github.com/stint-go/stint/internal/loop"
	"github.com/stint-go/stint/internal/task"
)

// Each calls f for every item and returns when every call that was begun has
// returned. The calls run on the caller's goroutine and on as many others as the
// limit allows and the work can use; with one item on the caller's alone. Given a
// Pool, they run on its workers instead. Without an option the limit finds itself, as
// Auto says: items that compute get a goroutine for each processor, items that wait,
// for a network or a disk, as many as make them end sooner, up to 256.
//
// The items are begun roughly in order. Those that take less than a microsecond are
// taken several at a time, so up to 127 of them may have to wait behind one that
// blocks. Under a Limit above GOMAXPROCS, and under one that lets all of them run at
// once, each item is taken alone; then items may also wait for each other. A limit
// that finds itself is such a one once it was reached.
//
// The first error cancels the context that f is given, keeps further calls from
// starting, and is returned; under KeepGoing all errors are. When ctx ends before
// every item was begun, the cause is returned; after the end of ctx a worker may
// still begin the short items that it has taken already. A panic cancels the rest
// and is raised again in the caller as a *PanicError. A call of runtime.Goexit is
// ErrGoexit; on the caller's own goroutine it cannot be stopped, and ends that
// goroutine after the other calls have returned.
//
// Options: a Limiter or a Pool, Burst, Overload, KeepGoing, Name. Each panics if
// ctx or f is nil. It does not change items, and does not keep it.
func Each[T any](ctx context.Context, items []T, f func(context.Context, T) error, opts ...Option) error {
	check("Each", ctx, f == nil)
	c := &eachCall[T]{items: items, f: f}
	return c.run("Each", ctx, len(items), c, opts)
}

// Range calls f for every index from 0 to n-1, as Each does for items. It panics
// if n is negative.
func Range(ctx context.Context, n int, f func(ctx context.Context, i int) error, opts ...Option) error {
	check("Range", ctx, f == nil)
	if n < 0 {
		panic(fmt.Sprintf("stint: Range: n is %d, want 0 or more", n))
	}
	c := &rangeCall{f: f}
	return c.run("Range", ctx, n, c, opts)
}

// An eachCall is one call of Each.
type eachCall[T any] struct {
	items []T
	f     func(context.Context, T) error
	call
}

func (c *eachCall[T]) Calls(ctx context.Context, s *loop.Span) error {
	f, items := c.f, c.items
	for i := s.At; ; {
		if err := f(ctx, items[i]); err != nil {
			return err
		}
		if i++; !s.Begin(i) {
			return nil
		}
	}
}

// A rangeCall is one call of Range.
type rangeCall struct {
	f func(context.Context, int) error
	call
}

func (c *rangeCall) Calls(ctx context.Context, s *loop.Span) error {
	f := c.f
	for i := s.At; ; {
		if err := f(ctx, i); err != nil {
			return err
		}
		if i++; !s.Begin(i) {
			return nil
		}
	}
}

// A call is what the calls of Each, Map and Range have in common.
type call struct {
	loop    loop.Loop
	verdict verdict
}

// Failed takes in how the task of an item ended that did not return nil.
func (c *call) Failed(i int, o task.Outcome) (stop bool) { return c.verdict.failed(i, o) }

// Abandoned takes in that the pool was shut down.
func (c *call) Abandoned() { c.verdict.fail(ErrClosed) }

// run is Range for the function called caller, whose calls job makes.
func (c *call) run(caller string, ctx context.Context, n int, job loop.Job, opts []Option) error {
	o := collect(caller, loopOptions, opts)
	if n == 0 {
		return nil
	}
	v, l := &c.verdict, &c.loop
	v.init(ctx, &o)
	v.loop = l
	v.report(&o, l)
	l.N, l.Context, l.Home, l.Job, l.Name = n, v.ctx, limit.From(ctx).Call(), job, o.Name
	l.Procs = runtime.GOMAXPROCS(0)
	switch {
	case o.Engine != nil:
		l.Engine = o.Engine
	case o.Limiter != nil:
		l.Limiter, l.Tuner = o.Limiter, o.Tuner
	case n == 1:
		l.Limit = 1
	default:
		l.Auto = o.Search(l.Procs)
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
