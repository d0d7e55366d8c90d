package stint

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime/pprof"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/stint-go/stint/internal/limit"
	"github.com/stint-go/stint/internal/loop"
	"github.com/stint-go/stint/internal/option"
	"github.com/stint-go/stint/internal/task"
	"github.com/stint-go/stint/internal/work"
)

// callOutcome collects how the tasks of one call or group ended, and cancels the rest
// when the first of them fails. Once ctx has ended, later errors are consequences.
type callOutcome struct {
	by          string          // the function or method that raises panics
	ctx         context.Context // of the tasks, made from the caller's
	cancelCause context.CancelCauseFunc
	loop        *loop.Loop     // nil if the tasks are those of source
	source      *work.Source   // nil if the tasks are those of loop
	limiter     *limit.Limiter // that is shared, or nil
	pool        *limit.Limiter // that of the pool, if limiter is another one, or nil
	keepGoing   bool
	refused     atomic.Bool   // a closed pool did not take a task
	failures    task.Failures // Kept are errors of items
}

// init makes c ready for a call that is made with ctx. The caller sets loop or source.
func (c *callOutcome) init(ctx context.Context, by string, o *option.Options) {
	c.by = by
	c.ctx, c.cancelCause = limit.CallContext(ctx, o.Name)
	c.keepGoing, c.limiter = o.Has(option.KeepGoing), o.Shared()
	if o.Both() {
		c.pool = o.Engine.Limiter()
	}
}

// report tells the limiters of an error. A panic of the function given to Overload counts
// as a panic of the task: then report returns false.
func (c *callOutcome) report(err error) (ok bool) {
	if c.limiter == nil {
		return true
	}
	return task.Guard(func() {
		c.limiter.Report(err)
		if c.pool != nil {
			c.pool.Report(err)
		}
	}, c.broken)
}

// broken records that a function other than the task's has panicked or called Goexit.
func (c *callOutcome) broken(o task.Outcome) {
	if o.Panic != nil {
		c.panic(o.Panic.Raised("stint: task"))
	} else {
		c.fail(ErrGoexit)
	}
}

// failed records how task i ended, and reports whether the rest is cancelled.
func (c *callOutcome) failed(i int, o task.Outcome) (stop bool) {
	switch err := o.Failure(); {
	case o.Panic != nil:
		c.broken(o)
	case !c.report(err): // which has recorded why
	case !c.keepGoing:
		c.fail(err)
	default:
		c.failures.Keep(&ItemError{i, err}, c.ctx.Err() != nil)
		return false
	}
	return true
}

// fail records an error that cancels the rest, if it is the first.
func (c *callOutcome) fail(err error) {
	if c.failures.Fail(err, context.Cause(c.ctx)) {
		c.cancel(err)
	}
}

// panic makes p the outcome. A call raises it, but the Wait of a group may be forgotten.
func (c *callOutcome) panic(p *PanicError) {
	first := c.failures.Panic(p, c.waits)
	if group, _, isMethod := strings.Cut(c.by, "."); first && isMethod {
		task.CrashUnraised(c, "stint: a "+group, &c.failures)
	}
	c.cancel(p)
}

// waits returns what a panic waits for.
func (c *callOutcome) waits() string {
	by := c.by
	if name, ok := pprof.Label(c.ctx, "stint"); ok {
		by = fmt.Sprintf("%s of %q", by, name)
	}
	running := 0
	if c.loop != nil {
		running = c.loop.Running()
	} else {
		running = c.source.Running()
	}
	if running == 0 {
		return by + "; nobody has called it yet"
	}
	return fmt.Sprintf("%s; other tasks that run: %d", by, running)
}

// cancel ends the context of the tasks. A loop stops before, so that no item starts after its
// context has ended, and a source after that: the submitters that it refuses ask for the cause.
func (c *callOutcome) cancel(cause error) {
	if c.loop != nil {
		c.loop.Stop()
	}
	c.cancelCause(cause)
	if c.source != nil {
		c.source.Stop()
	}
}

// close makes the outcome final, after the last task, and ends the context. Incomplete work
// needs an error: if no task failed, the error is the cause of the context or ErrClosed.
func (c *callOutcome) close(complete bool) {
	var incomplete error
	ended := context.Cause(c.ctx)
	if !complete {
		incomplete = ended
	}
	if incomplete == nil && c.refused.Load() {
		incomplete = ErrClosed
	}
	f := &c.failures
	f.Close(incomplete)        // no task is left: nothing below is concurrent
	defer c.cancelCause(f.Err) // as the goroutine that has recorded it may be about to do
	if f.Panicked() {
		slices.SortFunc(f.Kept, byIndex)
		f.TellBeside("stint: error", ended)
	} else if items := c.itemErrors(); len(items) > 0 {
		f.Err = errors.Join(append(items, f.Err)...)
	}
}

// itemErrors returns the errors of items, the late ones too, in the order of the items.
func (c *callOutcome) itemErrors() []error {
	items := slices.Clone(c.failures.Kept)
	for _, err := range c.failures.Late {
		if _, ok := err.(*ItemError); ok && c.keepGoing {
			items = append(items, err)
		}
	}
	slices.SortFunc(items, byIndex)
	return items
}

func byIndex(a, b error) int { return cmp.Compare(a.(*ItemError).Index, b.(*ItemError).Index) }

// result returns the outcome, or panics with it. It is called after close.
func (c *callOutcome) result() error {
	c.failures.Raise()
	return c.failures.Err
}

// raiseBeside is result for a caller whose own function did not return, with outcome o.
func (c *callOutcome) raiseBeside(o task.Outcome) { c.failures.RaiseBeside(o, "stint: function") }
