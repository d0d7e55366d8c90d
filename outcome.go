package stint

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime/pprof"
	"slices"
	"strings"
	"sync"

	"github.com/stint-go/stint/internal/auto"
	"github.com/stint-go/stint/internal/limit"
	"github.com/stint-go/stint/internal/loop"
	"github.com/stint-go/stint/internal/option"
	"github.com/stint-go/stint/internal/task"
	"github.com/stint-go/stint/internal/work"
)

// callOutcome collects how the tasks of one call or group ended, and cancels the rest
// when the first of them fails.
//
// The outcome of the call is the first event: the failure of a task or the end of ctx.
// Once ctx has ended, later errors are consequences. A panic comes before any error.
type callOutcome struct {
	ctx         context.Context // of the tasks, made from the caller's
	cancelCause context.CancelCauseFunc
	loop        *loop.Loop       // stopped before ctx is cancelled; nil if the tasks are those of source
	source      *work.Source     // nil if the tasks are those of loop
	controller  *auto.Controller // of the limiter that is shared, or nil
	keepGoing   bool

	mu         sync.Mutex // no method of an error or of the caller's context is called with it held
	refused    bool       // a closed pool did not take a task
	closed     bool       // the outcome is final
	ctxEnded   bool       // err is why ctx ended
	err        error      // the first error, or why ctx ended before there was one
	itemErrors []*ItemError
	panics     *task.Panics
	late       []error // of tasks that ended after the first failure or the end of ctx
}

// init makes c ready for a call that is made with ctx.
func (c *callOutcome) init(ctx context.Context, o *option.Options) {
	c.ctx, c.cancelCause = limit.CallContext(ctx, o.Name)
	c.keepGoing, c.controller = o.KeepGoing, o.SharedController()
}

// report tells the controller of an error. A panic of the function given to Overload counts
// as a panic of the task: then report returns false.
func (c *callOutcome) report(err error) (ok bool) {
	return c.controller == nil || task.Guard(func() { c.controller.Failed(err) }, c.broken)
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
	if o.Panic != nil {
		c.panic(o.Panic.Raised("stint: task"))
		return true
	}
	err := outcomeError(o)
	if !c.report(err) {
		return true
	}
	if !c.keepGoing {
		c.fail(err)
		return true
	}
	item, late := &ItemError{i, err}, c.hasEnded()
	c.mu.Lock()
	defer c.mu.Unlock()
	if late {
		c.late = append(c.late, item)
	} else {
		c.itemErrors = append(c.itemErrors, item)
	}
	return false
}

// outcomeError returns the error of a task that did not panic.
func outcomeError(o task.Outcome) error {
	if o.Goexit {
		return ErrGoexit
	}
	return o.Err
}

// fail records an error that cancels the rest, if it is the first.
func (c *callOutcome) fail(err error) {
	if c.first(err, c.ended()) {
		c.cancel(err)
	}
}

// first makes err the outcome and returns true, unless there is an outcome already:
// the failure of another task, or ended, the reason why ctx has ended.
func (c *callOutcome) first(err, ended error) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.closed:
	case c.err == nil && c.panics == nil && ended == nil:
		c.err = err
		return true
	case c.err == nil && c.panics == nil:
		c.err, c.ctxEnded = ended, true
		fallthrough
	default:
		c.late = append(c.late, err)
	}
	return false
}

// refuse records that a closed pool did not take a task. It cancels nothing: the pool
// runs the tasks that it has accepted.
func (c *callOutcome) refuse() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.refused = true
}

// panic makes p the outcome. A call raises it, but the Wait of a group may be forgotten.
func (c *callOutcome) panic(p *PanicError) {
	c.mu.Lock()
	first := c.panics == nil
	c.panics = c.panics.Add(p, c.waits)
	if group := c.group(); first && group != "" {
		task.CrashUnraised(c, "stint: a "+group, c.panics)
	}
	c.mu.Unlock()
	c.cancel(p)
}

// A caller is what runs the tasks of a call.
type caller interface {
	caller() string // the function or method that raises their panics
}

// caller returns the function or method that raises panics.
func (c *callOutcome) caller() string {
	runner := any(nil)
	if c.loop != nil {
		runner = c.loop.Body
	} else {
		runner = c.source.Runner
	}
	return runner.(caller).caller()
}

// group returns the type whose method raises panics, or "".
func (c *callOutcome) group() string {
	name, _, method := strings.Cut(c.caller(), ".")
	if !method {
		return ""
	}
	return name
}

// waits returns what a panic waits for.
func (c *callOutcome) waits() string {
	by, tasks := c.caller(), 0
	if c.loop != nil {
		tasks = c.loop.Running()
	} else {
		tasks = c.source.Running()
	}
	if name, ok := pprof.Label(c.ctx, "stint"); ok {
		by = fmt.Sprintf("%s of %q", by, name)
	}
	if tasks == 0 {
		return by + "; nobody has called it yet"
	}
	return fmt.Sprintf("%s; other tasks that run: %d", by, tasks)
}

// cancel ends the context of the tasks. A loop stops first, so that no item starts
// after its context has ended.
func (c *callOutcome) cancel(cause error) {
	if c.loop != nil {
		c.loop.Stop()
	}
	c.cancelCause(cause)
}

// hasEnded reports whether the tasks have been cancelled.
func (c *callOutcome) hasEnded() bool { return c.ctx.Err() != nil }

// ended returns why the tasks have been cancelled, or nil if they have not.
func (c *callOutcome) ended() error {
	if !c.hasEnded() {
		return nil
	}
	return context.Cause(c.ctx)
}

// close makes the outcome final, after the last task, and ends the context. Incomplete work
// needs an error: if no task failed, the error is the cause of the context or ErrClosed.
func (c *callOutcome) close(complete bool) {
	ended := c.ended()
	c.mu.Lock()
	if !complete && c.err == nil {
		c.err, c.ctxEnded = ended, true
	}
	if c.refused && c.err == nil {
		c.err = ErrClosed
	}
	c.closed = true
	if c.keepGoing && c.panics == nil {
		c.take(c.late)
	}
	slices.SortFunc(c.itemErrors, func(a, b *ItemError) int { return cmp.Compare(a.Index, b.Index) })
	c.mu.Unlock()              // no task is left: nothing below is concurrent
	defer c.cancelCause(c.err) // as the goroutine that has recorded it may be about to do
	switch {
	case c.panics != nil:
		c.besides(ended)
	case len(c.itemErrors) > 0:
		c.err = errors.Join(c.errors()...)
	}
}

// besides adds the other errors and panics to the panic. It calls methods of late errors:
// if a method calls Goexit, the panic is raised while the goroutine ends.
func (c *callOutcome) besides(ended error) {
	late, returned := c.late, false
	defer func() {
		c.panics.Beside(append(c.errors(), late...)...)
		if !returned {
			c.raise()
		}
	}()
	late = task.Besides(c.late, "stint: error", ended, c.err, c.panics.First())
	returned = true
}

// take moves late errors of items to the others. It is called with mu held.
func (c *callOutcome) take(late []error) {
	for _, err := range late {
		if item, ok := err.(*ItemError); ok {
			c.itemErrors = append(c.itemErrors, item)
		}
	}
}

// result returns the outcome, or panics with it. It is called after close.
func (c *callOutcome) result() error {
	c.raise()
	return c.err
}

// raise panics if a task did. It is called after close.
func (c *callOutcome) raise() { c.panics.Raise() }

// raiseBeside is raise for a caller whose own function did not return, with outcome o. If
// that function has panicked, its panic is in Also.
func (c *callOutcome) raiseBeside(o task.Outcome) {
	if o.Panic != nil {
		if p := o.Panic.Raised("stint: function"); p != c.panics.First() { // not what has been raised already
			c.panics.Beside(p)
		}
	}
	c.raise()
}

// errors returns the errors of the items and then the first error. With a panic, the end of
// ctx is left out.
func (c *callOutcome) errors() []error {
	errs := make([]error, 0, len(c.itemErrors)+1)
	for _, e := range c.itemErrors {
		errs = append(errs, e)
	}
	if c.err != nil && !(c.ctxEnded && c.panics != nil) {
		errs = append(errs, c.err)
	}
	return errs
}
