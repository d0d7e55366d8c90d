package loop

import (
	"context"
	"runtime/trace"
	"time"

	"github.com/stint-go/stint/internal/auto"
	"github.com/stint-go/stint/internal/limit"
	"github.com/stint-go/stint/internal/task"
)

// A worker is a goroutine that takes indexes of a loop: the caller's or a
// helper's.
type worker struct {
	loop   *Loop
	ctx    context.Context // for the calls it makes
	caller bool
	has    bool // a permit
	out    bool // it is not counted among the running any more
	permit limit.Permit
	slot   *limit.Slot // nil when nobody shares the limiter

	pace
	meter *auto.Meter // made when it is needed first
	Span
	calling  bool // the call for At has not returned
	seatless bool // it found no seat, and does not look before it looks at the clock
	seat     *seat

	made  int       // calls, in the last span
	turns int       // calls since it got the permit that it made while others waited
	since time.Time // when it got the permit, if others use the limiter
}

func (w *worker) init(l *Loop, ctx context.Context) {
	w.loop, w.ctx = l, ctx
	w.halt = &l.halt
	w.ready()
}

// serve is the rest of a helper's goroutine.
func (w *worker) serve() {
	defer func() {
		if w.calling && !w.loop.isStopped() { // a Goexit: a new goroutine takes over
			w.calling = false
			w.loop.resume(w)
			return
		}
		w.leave()
		w.loop.end()
		w.release()
		if !w.out {
			w.loop.running.Add(-1)
		}
		w.loop.helpers.Done()
	}()
	w.work()
}

// work takes indexes until none is left.
func (w *worker) work() {
	defer w.caught()
	l := w.loop
	for w.may() && w.take() {
		if l.Name != "" && trace.IsEnabled() {
			w.traced()
		} else {
			w.call()
		}
		w.measured()
	}
}

// may reports whether w is allowed one more span.
func (w *worker) may() bool {
	if w.loop.lim == nil {
		return w.fits()
	}
	return w.keep()
}

// caught is deferred by work: it tells a panic and a Goexit from a return.
func (w *worker) caught() {
	if !w.calling {
		return
	}
	o := task.Unreturned(recover())
	w.loop.fail(w.At, o) // before others can have what w has not begun
	w.widen(1)
	if o.Panic != nil {
		w.calling = false // otherwise its goroutine is at its end
	}
}

// call makes the calls of the span, as far as it may.
func (w *worker) call() {
	l, first := w.loop, w.At
	for more := true; more; more = w.Begin(w.At + 1) {
		w.calling = true
		err := l.Job.Calls(w.ctx, &w.Span)
		w.calling = false
		if err == nil {
			break
		}
		l.fail(w.At, task.Outcome{Err: err})
	}
	w.made = w.At - first + 1
	w.calls += w.made
	if w.rest() > 0 {
		w.refused()
	}
}

// refused gives back what Begin did not allow, and sees to it that somebody takes
// it: those who had nothing to do have left. If the limit has become larger the
// next item may wait, so a helper is called at once. Otherwise w looks at the clock
// whether the rest is worth one.
func (w *worker) refused() {
	l := w.loop
	if l.halt.And(^uint32(wanted))&wanted != 0 {
		w.asked, w.every = true, 0
	}
	w.widen(1)
	if l.halt.Load()&raised != 0 {
		l.more()
	}
}

// traced is call with a region for each item.
func (w *worker) traced() {
	w.widen(1)
	defer trace.StartRegion(w.ctx, w.loop.Name).End()
	w.call()
}

// keep reports whether w has a permit for one more span. If somebody else should
// have it first, w gives it up; a helper leaves, if the standby waits already.
func (w *worker) keep() bool {
	l := w.loop
	switch {
	case l.Engine != nil:
		w.turns += max(1, w.made)
		return !l.Engine.Pressed(w.permit, w.since, w.turns)
	case w.slot.Busy() && !w.renew():
		return false
	case w.permit != (limit.Permit{}):
		return !w.permit.Wanted() || w.returns()
	case !l.lim.Contended(int(l.sharing.waiting.Load())):
		return true
	}
	w.turns += max(1, w.made)
	if !l.lim.Over() && w.turns < limit.Turns && time.Since(w.since) < limit.Quantum {
		return true
	}
	return w.yield()
}

// yield gives the permit up if somebody else should have it, and reports whether
// w has one again.
func (w *worker) yield() bool {
	l := w.loop
	w.widen(1)
	if l.left() == 0 {
		return true // for take to find out: nothing is worth standing in line for
	}
	next, kept := l.lim.Yield()
	if kept {
		return true
	}
	w.has = false
	if next != nil {
		next.Grant()
	}
	if own, _ := w.from().On(l.lim); own != nil || !l.standing.Load() {
		return w.acquire() // on its own permit too, which the standby cannot have
	}
	return w.caller && w.await()
}

// await lets the standby wait for the caller too, and reports whether w has its
// permit. If the standby has become a helper meanwhile, the next one comes, or the
// end of the loop.
func (w *worker) await() bool {
	l := w.loop
	l.sharing.idle.Store(true)
	select {
	case <-l.sharing.turn:
	case <-l.sharing.none:
	case <-l.Context.Done():
	}
	if l.sharing.idle.CompareAndSwap(true, false) {
		return false
	}
	// Its turn has come, and has been received unless the loop was at its end too.
	select {
	case <-l.sharing.turn:
	default:
	}
	l.sharing.waiting.Add(-1)
	l.forgo()
	w.has, w.permit, w.since, w.turns = true, limit.Permit{}, time.Now(), 0
	w.paused()
	w.begin()
	l.standBy()
	return true
}

// returns gives the permit back, which its lender wants, and waits for another.
// It reports whether w has one.
func (w *worker) returns() bool {
	w.widen(1)
	if w.loop.left() == 0 {
		return true
	}
	w.release()
	return w.acquire()
}

// renew replaces the slot, on which the last call left a call of its own behind,
// perhaps with the permit. It reports whether w has one.
func (w *worker) renew() bool {
	w.has = w.slot.Retire()
	if !w.has && !w.acquire() {
		return false
	}
	w.begin()
	return true
}

// begin gives w a slot for its permit, and the context that tells of it.
func (w *worker) begin() {
	l := w.loop
	switch {
	case l.sharing != nil:
		w.slot = limit.NewSlot(l.lim, w.permit)
		w.ctx = w.slot.Carry(l.Context, l.Home, !w.caller)
	case l.Home != nil:
		w.ctx = limit.With(l.Context, nil, l.Home, !w.caller)
	}
}

// acquire waits for a permit and reports whether there is still something to do
// with it.
func (w *worker) acquire() bool {
	l := w.loop
	w.widen(1)
	l.sharing.waiting.Add(1)
	before := w.permit
	w.permit, w.has = l.lim.Acquire(l.Context.Done(), l.sharing.none, w.from())
	l.sharing.waiting.Add(-1)
	w.since, w.turns = time.Now(), 0
	w.paused()
	if w.slot != nil && w.has && w.permit != before {
		w.begin()
	}
	return w.has
}

// from returns the link whose slots may lend w a permit: the caller's, on its own
// goroutine.
func (w *worker) from() *limit.Link {
	if w.caller {
		return w.loop.Home
	}
	return nil
}

// release gives the permit back, if w has one.
func (w *worker) release() {
	if w.has {
		w.has = false
		w.loop.lim.Release(w.permit)
	}
}
