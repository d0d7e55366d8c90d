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

	mu       sync.Mutex // no method of an error or of the caller's context is called with it held
	refused  bool       // a closed pool did not take a task
	closed   bool       // the verdict is final
	err      error      // the first error, or why ctx ended before there was one
	cut      bool       // the latter
	items    []*ItemError
	panicked *PanicError
	panics   []error // further ones
	late     []error // of tasks that ended after the first failure or the end of ctx
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
		v.panic(o.Panic.Raised("stint: task"))
	} else {
		v.fail(ErrGoexit)
	}
}

// failed takes in how task i ended, and reports whether the rest is cancelled.
func (v *verdict) failed(i int, o task.Outcome) (stop bool) {
	if o.Panic != nil {
		v.panic(o.Panic.Raised("stint: task"))
		return true
	}
	err := outcomeError(o)
	if v.overload != nil && !v.overload(err) {
		return true
	}
	if !v.keepGoing {
		v.fail(err)
		return true
	}
	item, late := &ItemError{i, err}, v.over()
	v.mu.Lock()
	defer v.mu.Unlock()
	if late {
		v.late = append(v.late, item)
	} else {
		v.items = append(v.items, item)
	}
	return false
}

// outcomeError is the error of a task that did not panic.
func outcomeError(o task.Outcome) error {
	if o.Goexit {
		return ErrGoexit
	}
	return o.Err
}

// fail takes in an error that cancels the rest, if it is the first.
func (v *verdict) fail(err error) {
	if v.first(err, v.ended()) {
		v.cancel(err)
	}
}

// first makes err the verdict and returns true, unless there is one: of another task, or
// ended, why the context has.
func (v *verdict) first(err, ended error) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	switch {
	case v.closed:
	case v.err == nil && v.panicked == nil && ended == nil:
		v.err = err
		return true
	case v.err == nil && v.panicked == nil:
		v.err, v.cut = ended, true
		fallthrough
	default:
		v.late = append(v.late, err)
	}
	return false
}

// refuse notes that a closed pool did not take a task. It cancels nothing: what
// the pool has accepted it runs.
func (v *verdict) refuse() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.refused = true
}

// panic makes p the verdict, before any error.
func (v *verdict) panic(p *PanicError) {
	v.mu.Lock()
	if v.panicked == nil {
		v.panicked = p
	} else {
		v.panics = append(v.panics, p)
	}
	v.mu.Unlock()
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

// ended returns why the tasks have been cancelled, or nil if they have not.
func (v *verdict) ended() error {
	if !v.over() {
		return nil
	}
	return context.Cause(v.ctx)
}

// close makes the verdict final, after the last task, and ends the context.
// Unless the work is complete, the reason must be something: if no task failed,
// the end of the context, or the pool's.
func (v *verdict) close(complete bool) {
	ended := v.ended()
	v.mu.Lock()
	if !complete && v.err == nil {
		v.err, v.cut = ended, true
	}
	if v.refused && v.err == nil {
		v.err = ErrClosed
	}
	v.closed = true
	if v.keepGoing && v.panicked == nil {
		v.take(v.late)
	}
	slices.SortFunc(v.items, func(a, b *ItemError) int { return cmp.Compare(a.Index, b.Index) })
	v.mu.Unlock() // no task is left, and what is told from now on changes nothing
	defer v.ctx.cancel(nil)
	switch {
	case v.panicked != nil:
		v.besides(ended)
	case len(v.items) > 0:
		v.err = errors.Join(v.errors()...)
	}
}

// besides adds to the panic what else went wrong. It calls methods of the late errors:
// one that calls Goexit ends the goroutine, and the panic is raised on its way.
func (v *verdict) besides(ended error) {
	others := append(v.errors(), v.panics...)
	late, returned := v.late, false
	defer func() {
		v.panicked = task.With(v.panicked, append(others, late...))
		if !returned {
			v.raise()
		}
	}()
	late = task.Besides(v.late, "stint: error", ended, v.err, v.panicked)
	returned = true
}

// take counts late errors of items among the others. It is called with mu held.
func (v *verdict) take(late []error) {
	for _, err := range late {
		if item, ok := err.(*ItemError); ok {
			v.items = append(v.items, item)
		}
	}
}

// result returns the verdict, or panics with it. It is called after close.
func (v *verdict) result() error {
	v.raise()
	return v.err
}

// raise panics if a task did. It is called after close.
func (v *verdict) raise() {
	if v.panicked != nil {
		panic(v.panicked)
	}
}

// raiseBeside is raise where the caller's own function did not return, as o says: if
// that has panicked too, both panics are told.
func (v *verdict) raiseBeside(o task.Outcome) {
	if o.Panic != nil {
		if p := o.Panic.Raised("stint: function"); p != v.panicked { // not what has been raised already
			v.panicked = task.With(v.panicked, []error{p})
		}
	}
	v.raise()
}

// errors returns the errors of the items and then the first error. The end of ctx is
// none beside a panic.
func (v *verdict) errors() []error {
	errs := make([]error, 0, len(v.items)+1)
	for _, e := range v.items {
		errs = append(errs, e)
	}
	if v.err != nil && !(v.cut && v.panicked != nil) {
		errs = append(errs, v.err)
	}
	return errs
}
