package stint

import (
	"context"
	"runtime"
	"sync/atomic"

	"github.com/stint-go/stint/internal/limit"
	"github.com/stint-go/stint/internal/loop"
	"github.com/stint-go/stint/internal/option"
	"github.com/stint-go/stint/internal/task"
	"github.com/stint-go/stint/internal/work"
)

// A call is one call of Each, Map, Range or First: a loop over the indexes of its items.
type call struct {
	calls   func(context.Context, *loop.Claim) error
	waits   bool // every item may wait for another, so all start at once if the limit allows it
	loop    loop.Loop
	outcome *callOutcome
	own     callOutcome // outcome, unless each item is a task
}

// Failed records how the task of an item failed, and reports whether to stop.
func (c *call) Failed(i int, o task.Outcome) (stop bool) { return c.outcome.failed(i, o) }

// Abandoned records that the pool was shut down.
func (c *call) Abandoned() { c.outcome.fail(ErrClosed) }

// run runs n items for the function called by.
func (c *call) run(ctx context.Context, by string, n int, o option.Options) error {
	if n == 0 {
		return nil
	}
	if o.Hedge > 0 {
		return c.runHedged(ctx, by, n, &o)
	}
	if o.Both() {
		return c.runItems(ctx, by, n, &o)
	}
	out, l := &c.own, &c.loop
	c.outcome = out
	out.init(ctx, by, &o)
	out.loop = l
	l.Endless = ctx.Done() == nil // so that short items need not ask for the end
	l.N, l.Context, l.Parent, l.Calls, l.Body, l.Name = n, out.ctx, o.Scope(limit.ScopeOf(ctx)), c.calls, c, o.Name
	l.Waits = c.waits
	switch {
	case o.Engine != nil:
		l.Engine = o.Engine
	case o.Limiter != nil:
		l.Limiter, l.Nested = o.Limiter, o.Nested()
	case n == 1 || c.waits:
		l.Limit = n
	default:
		l.Auto = o.Search(runtime.GOMAXPROCS(0))
	}
	returned := false
	defer func() {
		if !returned { // a call of f has called Goexit on this goroutine
			out.close(true)
			out.failures.Raise()
		}
	}()
	if !l.Run() {
		out.refused.Store(true)
	}
	returned = true
	out.close(l.Complete())
	return out.result()
}

// runItems is run for a call with a Pool and a Limiter. Each item is a task of its own, which takes
// longer than one of a loop does, and keeps neither permit from the others.
func (c *call) runItems(ctx context.Context, by string, n int, o *option.Options) error {
	t := &items{calls: c.calls}
	c.outcome = &t.outcome
	t.init(ctx, by, o, t, o.Limit())
	t.executor.Source.Finite = true // no task yet
	for range n {
		if !t.start(nil) {
			break
		}
	}
	return t.end(n)
}

// items are the tasks of one runItems, in the order of their indexes.
type items struct {
	tasks
	calls   func(context.Context, *loop.Claim) error
	started atomic.Int64
}

// end waits for the n items and returns the outcome.
func (t *items) end(n int) error {
	t.executor.Wait()
	t.executor.Close()
	t.outcome.close(int(t.started.Load()) == n)
	return t.outcome.result()
}

func (t *items) Run(ctx context.Context, w work.Task) error {
	t.started.Add(1)
	return t.calls(ctx, &loop.Claim{At: w.Index})
}
