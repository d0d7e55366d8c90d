package stint

import (
	"context"
	"runtime"

	"github.com/stint-go/stint/internal/limit"
	"github.com/stint-go/stint/internal/loop"
	"github.com/stint-go/stint/internal/option"
	"github.com/stint-go/stint/internal/task"
)

// A call is one call of Each, Map, Range or First: a loop over the indexes of its items.
type call struct {
	calls   func(context.Context, *loop.Claim) error
	waits   bool // every item may wait for another, so all start at once if the limit allows it
	loop    loop.Loop
	outcome callOutcome
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
	out, l := &c.outcome, &c.loop
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
