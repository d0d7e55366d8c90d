package limit

import (
	"context"
	"time"

	"github.com/stint-go/stint/internal/race"
)

// An Admission is the permit of a goroutine that stint did not start: of the caller of
// Limiter.Do, or of an HTTP request. It is a permit of the limiter, or one that a task around it
// holds and lends. Until Release the goroutine is a task like others: calls that are made with
// Context run on the permit while it waits for them.
//
// In programs built with -race, an Admission uses the limiter on a goroutine aside, so that the
// locks and counters of the limiter do not order the callers: see race.Aside. What runs there
// must not touch memory of the caller. A call in a task that holds a permit of the same limiter
// is made as in other programs, since it may borrow the permit.
type Admission struct {
	ticket race.Ticket
	held   *HeldPermit
	since  time.Duration        // when it got the permit, by Clock; 0 if the controller did not count tasks then
	key    interface{ leave() } // which Release leaves, or nil
}

// someTask is a scope without permits.
var someTask Scope

// Admit waits for a permit. If ctx ends first, or has ended, it returns the cause.
func (l *Limiter) Admit(ctx context.Context) (Admission, error) {
	if ctx.Err() == nil {
		if a, ok := l.admit(ctx, true); ok {
			return a, nil
		}
	}
	return Admission{}, context.Cause(ctx)
}

// AdmitFree takes a permit if it can do so without waiting.
func (l *Limiter) AdmitFree(ctx context.Context) (Admission, bool) { return l.admit(ctx, false) }

func (l *Limiter) admit(ctx context.Context, wait bool) (_ Admission, ok bool) {
	call := ScopeOf(ctx).Call(l, false)
	h := NewHeldPermit(l, Permit{}) // before there is a permit: an allocation may have to wait for the garbage collector
	h.TaskContext(ctx, call, false)
	low, done := call.Low(l), ctx.Done()
	if held, _ := call.On(l); race.Sharp && held == nil {
		from := call
		if from != nil {
			from = &someTask
		}
		ok = race.Aside(func() bool {
			l.Made.Acquire()
			free := l.TryAcquire()
			if !free && wait {
				_, free = l.Acquire(low, false, done, nil, from, nil)
			}
			return free
		})
	} else if h.permit, ok = l.AcquireFree(call); !ok && wait {
		h.permit, ok = l.Acquire(low, false, done, nil, call, nil)
	}
	if !ok {
		return Admission{}, false
	}
	return h.admitted(), true
}

// Enter returns the Admission of a task with the context ctx, which has got p, a permit of l.
func (l *Limiter) Enter(ctx context.Context, p Permit, low bool) Admission {
	h := NewHeldPermit(l, p)
	h.TaskContext(ctx, ScopeOf(ctx).Call(l, low), false)
	return h.admitted()
}

// admitted returns the Admission of a task that holds h.
func (h *HeldPermit) admitted() (a Admission) {
	l := h.lim
	a.held = h
	if race.Sharp {
		a.ticket = l.Order.Take(l.Bound())
		l.Order.Start(a.ticket)
	}
	if l.ActiveController() != nil {
		a.since = Clock()
	}
	return a
}

// Limited reports whether a has a permit. Otherwise it is of a key without a limit, and has no other
// methods.
func (a Admission) Limited() bool { return a.held != nil }

// Context returns the context given to Admit with the permit: calls that are made with it may
// run on the permit.
func (a Admission) Context() context.Context { return &a.held.first }

// Failed tells the controller of the task's error, which may be caused by excess load. It
// is called before Release.
func (a Admission) Failed(err error) { a.held.lim.Report(err) }

// Overload tells the controller that excess load made the task fail, and how long the
// limit is to stay lower at least. It is called before Release.
func (a Admission) Overload(atLeast time.Duration) {
	if c := a.held.lim.Controller(); c != nil {
		c.Overload(atLeast)
	}
}

// Release returns the permit, and counts a finished task, which has failed or not. If a call has
// outlived the task and still has the permit, that call returns it. The key is left. Release must
// be called once.
func (a Admission) Release(failed bool) {
	l, since := a.held.lim, a.since
	if a.key != nil {
		defer a.key.leave()
	}
	l.Order.End(a.ticket)
	if race.Sharp && a.held.retireUnused() {
		race.Aside(func() bool {
			l.Made.Acquire()
			l.count(since, failed)
			l.Release(Permit{})
			return true
		})
		return
	}
	l.count(since, failed)
	if w, _ := a.held.Return(true); w != nil {
		w.Grant()
	}
}

// count counts a task that got its permit at since. Its duration is unknown if it began
// before the controller counted.
func (l *Limiter) count(since time.Duration, failed bool) {
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
		took = Clock() - since
	}
	c.Finished(failed, took)
}
