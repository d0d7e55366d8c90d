package loop

import (
	"context"
	"runtime/trace"
	"time"

	"github.com/stint-go/stint/internal/limit"
	"github.com/stint-go/stint/internal/task"
)

// A worker is a goroutine that takes indexes of a loop: the caller's or a
// helper's.
type worker struct {
	loop   *Loop
	ctx    context.Context // for the calls it makes
	caller bool
	item   int // the index in hand, or -1

	has    bool // a permit
	permit limit.Permit
	from   *limit.Link // whose slots may lend one: the caller's, on its goroutine
	since  time.Time   // when it got the permit, if the limiter is shared
	turns  int         // calls since then that it made while others waited
	slot   *limit.Slot // nil when it is not
	yields func() bool // nil: from the limiter
}

// serve is the rest of a helper's goroutine.
func (w *worker) serve() {
	defer func() {
		if w.item >= 0 && !w.loop.stopped.Load() { // a Goexit: a new goroutine takes over
			w.item = -1
			w.loop.resume(w)
			return
		}
		w.release()
		w.loop.running.Add(-1)
		w.loop.helpers.Done()
	}()
	w.work()
}

// work takes indexes until none is left.
func (w *worker) work() {
	defer w.caught()
	l := w.loop
	for w.keep() {
		i := l.claim()
		if i < 0 {
			return
		}
		w.item = i
		err := w.call(i)
		w.item = -1
		if err != nil {
			l.fail(i, task.Outcome{Err: err})
		}
	}
}

// caught is deferred by work: it tells a panic and a Goexit from a return.
func (w *worker) caught() {
	if w.item < 0 {
		return
	}
	o := task.Unreturned(recover())
	w.loop.fail(w.item, o)
	if o.Panic != nil {
		w.item = -1 // otherwise its goroutine is at its end
	}
}

func (w *worker) call(i int) error {
	if w.loop.Name != "" && trace.IsEnabled() {
		defer trace.StartRegion(w.ctx, w.loop.Name).End()
	}
	return w.loop.Body(w.ctx, i)
}

// keep reports whether w has a permit for one more call. If somebody else should
// have it first, w gives it up; a helper leaves, if the standby waits already.
func (w *worker) keep() bool {
	l := w.loop
	if w.yields != nil {
		return !w.yields()
	}
	if w.slot == nil {
		return true
	}
	if w.slot.Busy() && !w.renew() {
		return false
	}
	if l.left() == 0 {
		return true // for claim to find out: nothing is worth standing in line for
	}
	if w.permit != (limit.Permit{}) {
		return w.returns()
	}
	if !l.lim.Contended(int(l.waiting.Load())) {
		return true
	}
	w.turns++
	if !l.lim.Over() && w.turns < limit.Turns && time.Since(w.since) < limit.Quantum {
		return true
	}
	next, kept := l.lim.Yield()
	if kept {
		return true
	}
	w.has = false
	if next != nil {
		next.Grant()
	}
	if own, _ := w.from.On(l.lim); own != nil || !l.standing.Load() {
		return w.acquire(w.from) // on its own permit too, which the standby cannot have
	}
	return w.caller && w.await()
}

// await lets the standby wait for the caller too, and reports whether w has its
// permit. If the standby has become a helper meanwhile, the next one comes, or the
// end of the loop.
func (w *worker) await() bool {
	l := w.loop
	l.idle.Store(true)
	select {
	case <-l.turn:
	case <-l.ended:
	case <-l.Context.Done():
	}
	if l.idle.CompareAndSwap(true, false) {
		return false
	}
	// Its turn has come, and has been received unless the loop was at its end too.
	select {
	case <-l.turn:
	default:
	}
	l.waiting.Add(-1)
	l.forgo()
	w.has, w.permit, w.since, w.turns = true, limit.Permit{}, time.Now(), 0
	w.begin()
	l.standBy()
	return true
}

// returns gives a permit back that its lender wants, and waits for another. It
// reports whether w has one.
func (w *worker) returns() bool {
	if !w.permit.Wanted() {
		return true
	}
	w.release()
	return w.acquire(w.from)
}

// renew replaces the slot, on which the last call left a call of its own behind,
// perhaps with the permit. It reports whether w has one.
func (w *worker) renew() bool {
	w.has = w.slot.Retire()
	if !w.has && !w.acquire(w.from) {
		return false
	}
	w.begin()
	return true
}

// begin gives w a slot for its permit, and the context that tells of it.
func (w *worker) begin() {
	l := w.loop
	if l.Limiter != nil {
		w.slot = limit.NewSlot(l.lim, w.permit)
	}
	if w.slot != nil || l.home != nil {
		w.ctx = limit.With(l.Context, w.slot, l.home, !w.caller)
	}
}

// acquire waits for a permit and reports whether there is still something to do
// with it.
func (w *worker) acquire(from *limit.Link) bool {
	l := w.loop
	if l.Limiter == nil {
		w.has = l.lim.TryAcquire()
		return w.has
	}
	l.waiting.Add(1)
	before := w.permit
	w.permit, w.has = l.lim.Acquire(l.Context.Done(), l.ended, from)
	l.waiting.Add(-1)
	w.since, w.turns = time.Now(), 0
	if w.slot != nil && w.has && w.permit != before {
		w.begin()
	}
	return w.has
}

// release gives the permit back, if w has one.
func (w *worker) release() {
	if w.has {
		w.has = false
		w.loop.lim.Release(w.permit)
	}
}
