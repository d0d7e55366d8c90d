package stint

import (
	"context"
	"runtime"

	"github.com/stint-go/stint/internal/limit"
	"github.com/stint-go/stint/internal/loop"
	"github.com/stint-go/stint/internal/option"
	"github.com/stint-go/stint/internal/task"
)

// A call is what the calls of Each, Map, Range and First have in common.
type call struct {
	loop    loop.Loop
	outcome callOutcome
}

// Failed records how the task of an item failed, and reports whether to stop.
func (c *call) Failed(i int, o task.Outcome) (stop bool) { return c.outcome.failed(i, o) }

// Abandoned records that the pool was shut down.
func (c *call) Abandoned() { c.outcome.fail(ErrClosed) }

// run runs n items. body calls the function f of the caller.
func (c *call) run(ctx context.Context, n int, body loop.Body, o option.Options) error {
	if n == 0 {
		return nil
	}
	out, l, caller := &c.outcome, &c.loop, limit.ScopeOf(ctx)
	if !l.Waits {
		o.Inherit(caller)
	}
	out.init(ctx, &o)
	out.loop = l
	l.N, l.Context, l.Parent, l.Body, l.Name = n, out.ctx, o.Scope(caller), body, o.Name
	l.Procs = runtime.GOMAXPROCS(0)
	switch {
	case o.Engine != nil:
		l.Engine = o.Engine
	case o.Limiter != nil:
		l.Limiter, l.Nested = o.Limiter, o.Nested()
	case n == 1 || l.Waits: // every item may wait for another
		l.Limit = n
	default:
		l.Auto = o.Search(l.Procs)
	}
	returned := false
	defer func() {
		if !returned { // a call of f has called Goexit on this goroutine
			out.close(true)
			out.raise()
		}
	}()
	if !l.Run() {
		out.refuse()
	}
	returned = true
	out.close(l.Complete())
	return out.result()
}
