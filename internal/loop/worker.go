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
	ticket  race.Ticket // of the item At, if it is to run on a goroutine of its own
	loop    *Loop
	ctx     context.Context // for the calls it makes
	caller  bool
	has     bool // a permit that it must release
	calling bool // the call for At has not returned
	single  bool // it found no room for a range, until it next reads the clock
	permit  limit.Permit
	held    *limit.HeldPermit // nil if nobody else uses the limiter

	grain
	sampling limit.Sampling
	Batch
	claimed *stealable // nil: it claims one index at a time

	first   int           // index of the batch that is not counted
	made    int           // calls, in the last batch
	failed  int           // of them
	quantum limit.Quantum // started if others use the limiter
}

func (w *worker) init(l *Loop, ctx context.Context) {
	w.loop, w.ctx = l, ctx
	w.halt = &l.halt
	w.startTiming()
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
		w.loop.running.Add(-1)
		w.loop.helpers.Done()
	}()
	w.work()
}

// work takes indexes until none is left for w.
func (w *worker) work() {
	defer w.caught()
	l := w.loop
	for w.keepPermit() && w.take() {
		if l.Name != "" && trace.IsEnabled() {
			w.traced()
		} else {
			w.call()
		}
		w.sampling.Done(l.lim, w.made, w.failed)
	}
}

// caught is deferred by work: it tells a panic and a Goexit from a return.
func (w *worker) caught() {
	if !w.calling {
		return
	}
	o := task.Unreturned(recover())
	w.fail(o) // before others can have the rest of the batch
	w.setBatchSize(1)
	w.sampling.Done(w.loop.lim, w.made, w.failed)
	if o.Panic != nil {
		w.calling = false // otherwise the goroutine is about to end
	}
}

// call makes the calls of the batch.
func (w *worker) call() {
	l := w.loop
	w.first, w.made, w.failed = w.At, 0, 0
	if race.Sharp && !l.Compute {
		if l.apart(w.At) {
			w.callApart()
			return
		}
		ticket := l.ticket()
		l.start(ticket)
		defer l.finished(ticket)
	}
	for more := true; more; more = w.Begin(w.At + 1) {
		w.calling = true
		err := l.Body.Calls(w.ctx, &w.Batch)
		w.calling = false
		if err == nil {
			w.count()
			break
		}
		w.fail(task.Outcome{Err: err})
	}
	w.calls += w.made
	if w.rest() > 0 {
		w.refused()
	}
}

// fail passes on the outcome of the call for At. The calls until then are counted first: Failed
// calls functions of the caller, which may call Goexit.
func (w *worker) fail(o task.Outcome) {
	w.loop.countFailure()
	w.failed++
	w.count()
	w.loop.tell(w.At, o)
}

// count counts the finished calls from first to At.
func (w *worker) count() {
	n := w.At - w.first + 1
	w.made += n
	w.first = w.At + 1
	if l := w.loop.lim; l != nil {
		l.Completed(n)
	}
}

// refused returns the rest of the batch, which Begin did not allow, and makes sure that
// another worker comes for it, since workers that found nothing have left: w measures whether
// the rest is worth a helper.
func (w *worker) refused() {
	if w.loop.halt.And(^uint32(wanted))&wanted != 0 {
		w.recalls, w.every = true, 0
	}
	w.setBatchSize(1)
}

// traced is call with a region for each item.
func (w *worker) traced() {
	defer trace.StartRegion(w.ctx, w.loop.Name).End()
	w.call()
}

// keepPermit reports whether w has a permit for one more batch. If a waiter should have the
// permit first, w gives it up and waits for another, or leaves: if the spare worker waits, or
// if it is a task of an engine.
func (w *worker) keepPermit() bool {
	l := w.loop
	switch {
	case l.lim == nil:
		return true
	case w.permit != (limit.Permit{}): // lent: of use to its lender only
		return !w.permit.Wanted() || l.Engine == nil && w.returnPermit()
	case w.quantum.Lasts(l.pressure(), w.made):
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
	if !w.caller && l.spare.exists.Load() {
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
	switch {
	case l.shared:
		w.quantum.Start()
		w.held = limit.NewHeldPermit(l.lim, w.permit)
		w.ctx = w.held.TaskContext(l.Context, l.Parent, !w.caller)
	case l.inherited():
		if w.caller {
			w.held = &l.held
			w.held.Init(l.lim, w.permit)
		} else {
			w.held = limit.NewHeldPermit(l.lim, w.permit)
		}
		w.ctx = w.held.TaskContext(l.Context, l.Parent, !w.caller)
	case l.Parent != nil:
		w.ctx = limit.TaskContext(l.Context, nil, l.Parent, !w.caller)
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
	if w.caller && w.loop.shared {
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
