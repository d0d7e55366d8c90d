package loop

import (
	"context"
	"runtime/trace"

	"github.com/stint-go/stint/internal/limit"
	"github.com/stint-go/stint/internal/race"
	"github.com/stint-go/stint/internal/task"
)

// A worker is a goroutine that takes indexes of a loop: the caller's or a helper's.
type worker struct {
	loop    *Loop
	ctx     context.Context // for the calls that it makes
	at      int             // the index in hand
	ticket  race.Ticket     // of at
	calling bool            // the call for at has not returned

	has     bool // a permit that it must release
	permit  limit.Permit
	held    *limit.HeldPermit // nil if nobody else uses the limiter
	quantum limit.Quantum

	sampling limit.Sampling
}

func (w *worker) isCaller() bool { return w == &w.loop.caller }

// work takes indexes until none is left for w.
func (w *worker) work() {
	defer w.caught()
	for w.keepPermit() && w.take() {
		if w.loop.Name != "" && trace.IsEnabled() {
			w.traced()
		} else {
			w.call()
		}
	}
}

// caught is deferred by work: it tells a panic and a Goexit from a return.
func (w *worker) caught() {
	if !w.calling {
		return
	}
	o := task.Unreturned(recover())
	w.fail(o)
	if o.Panic != nil {
		w.calling = false // otherwise the goroutine is about to end
	}
}

// take gives w the next index. It reports false if there is none, or the loop is stopped.
func (w *worker) take() (ok bool) {
	l := w.loop
	if l.stopped.Load() {
		return false
	}
	if l.Context.Err() != nil {
		l.Stop()
		return false
	}
	if race.Sharp {
		return w.claimInOrder()
	}
	w.at, ok = l.claim()
	return ok
}

// traced is call with a region.
func (w *worker) traced() {
	defer trace.StartRegion(w.ctx, w.loop.Name).End()
	w.call()
}

// call makes the call for the index in hand.
func (w *worker) call() {
	l := w.loop
	if race.Sharp {
		if w.at < maxApart {
			w.callApart()
			return
		}
		l.lim.Order.Start(w.ticket)
		defer l.lim.Order.End(w.ticket)
	}
	w.calling = true
	err := l.Body.Call(w.ctx, w.at)
	w.calling = false
	if err != nil {
		w.fail(task.Outcome{Err: err})
		return
	}
	w.count(0)
}

// fail passes on the outcome of the call. The call is counted first: Failed calls functions of
// the caller, which may call Goexit.
func (w *worker) fail(o task.Outcome) {
	w.loop.lim.Failed()
	w.count(1)
	w.loop.tell(w.at, o)
}

// count counts the call. failed is 1 if it has failed, and 0 otherwise.
func (w *worker) count(failed int) {
	l := w.loop
	l.lim.Completed(1)
	w.sampling.Done(l.lim, 1, failed)
}

// keepPermit reports whether w has a permit for one more call. If a waiter should have the
// permit first, w gives it up and waits for another, or leaves: if the spare worker waits, or
// if it is a task of an engine.
func (w *worker) keepPermit() bool {
	l := w.loop
	switch {
	case w.permit != (limit.Permit{}): // lent: of use to its lender only
		return !w.permit.Wanted() || l.Engine == nil && w.returnPermit()
	case w.quantum.Lasts(l.pressure(), 1):
		return true
	}
	return l.Engine == nil && w.yield()
}

// pressure is the pressure on the workers.
func (l *Loop) pressure() limit.Pressure {
	if l.Engine != nil {
		return l.Engine.Pressure(l.low)
	}
	return l.lim.Pressure(l.low, int(l.waiting.Load()))
}

// yield gives the permit up if a waiter should have it, and reports whether w has a permit
// again. A loop waits in the limiter's queue once: a helper leaves if the spare worker
// waits, and the caller waits in its place.
func (w *worker) yield() bool {
	l := w.loop
	if l.left() == 0 {
		return true // for take to find out: there is nothing to wait for
	}
	next, kept := l.lim.Yield(l.low)
	switch {
	case kept:
		return true
	case next == &l.spare.waiter: // the permit is the loop's again
		l.waiting.Add(-1)
		l.dropSpare()
		w.quantum.Start()
		l.addSpare()
		return true
	}
	w.has = false
	if !w.isCaller() && l.spare.exists.Load() {
		if next != nil {
			next.Grant()
		}
		return false
	}
	l.cancelSpare()
	if !w.acquire(next) {
		return false
	}
	l.addSpare()
	return true
}

// returnPermit returns the permit to its lender and waits for another. It reports whether w
// has one.
func (w *worker) returnPermit() bool {
	if w.loop.left() == 0 {
		return true
	}
	w.release()
	if !w.acquire(nil) {
		return false
	}
	w.begin()
	return true
}

// begin gives w the context of its tasks, and a HeldPermit if others may use the limiter.
func (w *worker) begin() {
	l := w.loop
	w.quantum.Start()
	switch apart := !w.isCaller(); {
	case l.shared() || l.Auto.Max > 0:
		w.held = limit.NewHeldPermit(l.lim, w.permit)
		w.ctx = w.held.TaskContext(l.Context, l.Parent, apart)
	case l.Parent != nil:
		w.ctx = limit.TaskContext(l.Context, nil, l.Parent, apart)
	}
}

// acquire waits for a permit, after calling the Grant of granted, unless that is nil. It
// reports false if the loop is over or the context ends first.
func (w *worker) acquire(granted *limit.Waiter) bool {
	l := w.loop
	before := w.permit
	l.waiting.Add(1)
	w.permit, w.has = l.lim.Acquire(l.low, l.Nested, l.Context.Done(), l.overSignal(), w.from(), granted)
	l.waiting.Add(-1)
	w.quantum.Start()
	w.sampling.Rest()
	if w.held != nil && w.has && w.permit != before {
		w.begin()
	}
	return w.has
}

// from returns the scope whose permits w may borrow: the caller's, on its own goroutine.
func (w *worker) from() *limit.Scope {
	if w.isCaller() {
		return w.loop.Parent
	}
	return nil
}

// release returns the permit, if w has one.
func (w *worker) release() {
	if !w.has {
		return
	}
	w.has = false
	if w.held == nil {
		w.loop.lim.Release(w.permit)
		return
	}
	next, _ := w.held.Return(true)
	w.held = nil
	if next != nil {
		next.Grant()
	}
}
