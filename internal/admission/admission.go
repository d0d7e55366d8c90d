// Package admission gives a permit to a goroutine that stint did not start: the caller of
// Limiter.Do, or an HTTP request.
//
// An Admission begins with a permit of the limiter, or one that a task around it holds and
// lends, and ends with Release. In between it is a task like others: calls that are made
// with its context run on its permit while it waits for them. A waiting Acquire is in the
// limiter's queue, so the limiter tells the controller that a task waits.
package admission

import (
	"context"
	"time"

	"github.com/stint-go/stint/internal/limit"
	"github.com/stint-go/stint/internal/race"
)

// An Admission is a permit that is held until Release. It must not be copied after
// Release. It is small enough to be returned in registers.
type Admission struct {
	permit *limit.LazyPermit
	since  time.Duration // when it got the permit, by limit.Clock; 0 if the controller did not count tasks then
}

// Acquire waits for a permit of l. If ctx ends first, or has ended, it returns the cause.
func Acquire(ctx context.Context, l *limit.Limiter) (Admission, error) {
	if ctx.Err() != nil {
		return Admission{}, context.Cause(ctx)
	}
	call := limit.ScopeOf(ctx).Call(l, false)
	a := Admission{limit.NewLazyPermit(ctx, l, call), 0}
	var p limit.Permit
	var ok bool
	if race.Sharp && !holds(call, l) {
		ok = acquireAside(l, call.Low(l), ctx.Done())
	} else if p, ok = l.AcquireFree(call); !ok {
		p, ok = l.Acquire(ctx.Done(), nil, call, nil)
	}
	if !ok {
		return Admission{}, context.Cause(ctx)
	}
	a.begin(p)
	return a, nil
}

// AcquireFree takes a permit if it can do so without waiting.
func AcquireFree(ctx context.Context, l *limit.Limiter) (Admission, bool) {
	call := limit.ScopeOf(ctx).Call(l, false)
	var p limit.Permit
	var ok bool
	if race.Sharp && !holds(call, l) {
		ok = tryAside(l)
	} else {
		p, ok = l.AcquireFree(call)
	}
	if !ok {
		return Admission{}, false
	}
	a := Admission{limit.NewLazyPermit(ctx, l, call), 0}
	a.begin(p)
	return a, true
}

// begin begins the task, on p.
func (a *Admission) begin(p limit.Permit) {
	a.permit.Hold(p)
	if a.permit.Limiter().ActiveController() != nil {
		a.since = limit.Clock()
	}
}

// Context returns the context given to Acquire with the permit: calls that are made with
// it may run on the permit.
func (a *Admission) Context() context.Context { return a.permit }

// Failed tells the controller of the task's error, which may be caused by excess load. It
// is called before Release.
func (a *Admission) Failed(err error) {
	a.permit.Limiter().Report(err)
}

// Overload tells the controller that excess load made the task fail, and how long the
// limit is to stay lower at least. It is called before Release.
func (a *Admission) Overload(atLeast time.Duration) {
	if c := a.permit.Limiter().Controller(); c != nil {
		c.Overload(atLeast)
	}
}

// Release returns the permit, and counts a finished task, which has failed or not. Release
// must be called once.
func (a *Admission) Release(failed bool) {
	a.permit.End()
	if race.Sharp {
		if l := a.permit.ReturnUnused(); l != nil {
			releaseAside(l, a.since, failed)
			return
		}
	}
	count(a.permit.Limiter(), a.since, failed)
	grant(a.permit.Return())
}

// count counts a task that got its permit at since. Its duration is unknown if it began
// before the controller counted.
func count(l *limit.Limiter, since time.Duration, failed bool) {
	if failed {
		l.Failed()
	}
	l.Completed(1)
	c := l.ActiveController()
	if c == nil {
		return
	}
	var took time.Duration
	if since != 0 {
		took = limit.Clock() - since
	}
	c.Finished(failed, took)
}

func grant(w *limit.Waiter) {
	if w != nil {
		w.Grant()
	}
}
