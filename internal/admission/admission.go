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

	"github.com/stint-go/stint/internal/auto"
	"github.com/stint-go/stint/internal/limit"
)

// An Admission is a permit that is held until Release. It must not be copied after
// Release.
type Admission struct {
	held       *limit.HeldPermit
	ctx        context.Context
	controller *auto.Controller
	since      time.Time // when it got the permit, if the controller counts tasks
}

// Acquire waits for a permit of l, whose controller is c or nil. If ctx ends first, or has
// ended, it returns the cause.
func Acquire(ctx context.Context, l *limit.Limiter, c *auto.Controller) (Admission, error) {
	if ctx.Err() != nil {
		return Admission{}, context.Cause(ctx)
	}
	call := limit.ScopeOf(ctx).Call()
	p, ok := l.AcquireFree(call)
	if !ok {
		if p, ok = l.Acquire(ctx.Done(), nil, call, nil); !ok {
			return Admission{}, context.Cause(ctx)
		}
	}
	return admit(ctx, l, c, call, p), nil
}

// TryAcquire takes a permit if it can do so without waiting. Otherwise it tells c of the
// refusal, and reports false.
func TryAcquire(ctx context.Context, l *limit.Limiter, c *auto.Controller) (Admission, bool) {
	call := limit.ScopeOf(ctx).Call()
	p, ok := l.AcquireFree(call)
	if !ok {
		if c != nil {
			c.Refused()
		}
		return Admission{}, false
	}
	return admit(ctx, l, c, call, p), true
}

func admit(ctx context.Context, l *limit.Limiter, c *auto.Controller, call *limit.Scope, p limit.Permit) Admission {
	a := Admission{held: limit.NewHeldPermit(l, p), controller: c}
	a.ctx = a.held.TaskContext(ctx, call, false)
	if c != nil && c.Active() {
		a.since = time.Now()
	}
	return a
}

// Context returns the context given to Acquire with the permit: calls that are made with
// it may run on the permit.
func (a *Admission) Context() context.Context { return a.ctx }

// Failed tells the controller of the task's error, which may be caused by excess load. It
// is called before Release.
func (a *Admission) Failed(err error) {
	if a.controller != nil {
		a.controller.Failed(err)
	}
}

// Overload tells the controller that excess load made the task fail. It is called before
// Release.
func (a *Admission) Overload() {
	if a.controller != nil {
		a.controller.Overload()
	}
}

// Release returns the permit. The controller counts a finished task. Release must be called
// once.
func (a *Admission) Release() {
	if c := a.controller; c != nil && c.Active() {
		a.count()
	}
	if w, _ := a.held.Return(true); w != nil {
		w.Grant()
	}
}

// count counts the task. Its duration is unknown if it began before the controller counted.
func (a *Admission) count() {
	var took time.Duration
	if !a.since.IsZero() {
		took = time.Since(a.since)
	}
	a.controller.Finished(took)
}
