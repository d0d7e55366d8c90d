package stint

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/stint-go/stint/internal/loop"
	"github.com/stint-go/stint/internal/option"
	"github.com/stint-go/stint/internal/task"
)

// verdict collects how the tasks of one call or group ended, and cancels the
// rest when the first of them fails.
//
// Once ctx has ended, for whatever reason, what comes later is a consequence:
// the first failure or the parent's end is the verdict, whichever was first.
type verdict struct {
	ctx       *cancelContext // of the tasks; made from the caller's
	loop      *loop.Loop     // stopped before ctx is cancelled; nil if the tasks are none of a loop
	keepGoing bool
	overload  func(error) (ok bool) // is told of errors; nil: nobody is

	mu       sync.Mutex
	refused  bool  // a closed pool did not take a task
	closed   bool  // the verdict is final
	err      error // the first error, or the cause of the parent's end
	panicked *PanicError
	others   []error // after the first error: what a panic is reported with
	items    []*ItemError
}

func (v *verdict) init(ctx context.Context, o *option.Options) {
	v.ctx = &cancelContext{parent: o.Labelled(ctx)}
	v.keepGoing = o.KeepGoing
}

// report makes the search for a limit know of the errors that the option Overload
// says mean that too many run. A panic of the option's function is one of the task.
func (v *verdict) report(o *option.Options, search interface{ Overload() }) {
	is := o.Overload
	if is == nil {
		return
	}
	v.overload = func(err error) (ok bool) {
		defer func() {
			if !ok {
				v.broken(task.Unreturned(recover()))
			}
		}()
		if is(err) {
			search.Overload()
		}
		return true
	}
}

// broken takes in that a function other than the task's has panicked or called
// Goexit.
func (v *verdict) broken(o task.Outcome) {
	if o.Panic != nil {
		v.panics(o.Panic.Raised("stint: task"))
	} else {
		v.fail(ErrGoexit)
	}
}

// failed takes in how task i ended, and reports whether the rest is cancelled.
func (v *verdict) failed(i int, o task.Outcome) (stop bool) {
	if o.Panic != nil {
		v.panics(o.Panic.Raised("stint: task"))
		return true
	}
	err := outcomeError(o)
	if v.overload != nil && !v.overload(err) {
		return true
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.keepGoing {
		v.items = append(v.items, &ItemError{i, err})
		return false
	}
	v.fails(err)
	return true
}

// outcomeError is the error of a task that did not panic.
func outcomeError(o task.Outcome) error {
	if o.Goexit {
		return ErrGoexit
	}
	return o.Err
}

// fails makes err the verdict, if it is the first. It is called with mu held.
func (v *verdict) fails(err error) {
	switch {
	case v.closed:
	case v.err == nil && v.panicked == nil && v.ctx.Err() == nil:
		v.err = err
		v.cancel(err)
	case v.err == nil && v.panicked == nil:
		v.err = context.Cause(v.ctx)
	case !errors.Is(err, context.Canceled):
		v.others = append(v.others, err)
	}
}

// fail makes err the verdict, if it is the first.
func (v *verdict) fail(err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.fails(err)
}

// refuse notes that a closed pool did not take a task. It cancels nothing: what
// the pool has accepted it runs.
func (v *verdict) refuse() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.refused = true
}

// panics makes p the verdict, before any error.
func (v *verdict) panics(p *PanicError) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.panicked == nil {
		v.panicked = p
	} else {
		v.others = append(v.others, p)
	}
	v.cancel(p)
}

// cancel ends the context of the tasks. A loop stops first: who sees its context
// cancelled must not see an item begin after that.
func (v *verdict) cancel(cause error) {
	if v.loop != nil {
		v.loop.Stop()
	}
	v.ctx.cancel(cause)
}

// over reports whether the tasks have been cancelled.
func (v *verdict) over() bool { return v.ctx.Err() != nil }

// close makes the verdict final, after the last task, and ends the context.
// Unless the work is complete, the reason must be something: if no task failed,
// the end of the context, or the pool's.
func (v *verdict) close(complete bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if !complete && v.err == nil {
		v.err = context.Cause(v.ctx)
	}
	if v.refused && v.err == nil {
		v.err = ErrClosed
	}
	v.closed = true
	slices.SortFunc(v.items, func(a, b *ItemError) int { return cmp.Compare(a.Index, b.Index) })
	if len(v.items) > 0 && v.panicked == nil {
		v.err = errors.Join(v.errors()...)
	}
	v.ctx.cancel(nil)
}

// result returns the verdict, or panics with it. It is called after close.
func (v *verdict) result() error {
	v.raise()
	return v.err
}

// raise panics if a task did. It is called after close.
func (v *verdict) raise() {
	if v.panicked != nil {
		panic(task.With(v.panicked, append(v.errors(), v.others...)))
	}
}

// errors returns the errors of the items and then the first error.
func (v *verdict) errors() []error {
	errs := make([]error, 0, len(v.items)+1)
	for _, e := range v.items {
		errs = append(errs, e)
	}
	if v.err != nil && v.err != error(v.panicked) {
		errs = append(errs, v.err)
	}
	return errs
}
