package loop

import (
	"context"
	"runtime/trace"
	"time"

	"github.com/stint-go/stint/internal/limit"
	"github.com/stint-go/stint/internal/race"
	"github.com/stint-go/stint/internal/task"
)

// A worker is a goroutine that takes indexes of a loop: the caller's or a helper's.
type worker struct {
	loop *Loop
	ctx  context.Context // for the calls that it makes
	claiming
	permission
	calling  bool // the call for At has not returned
	exits    bool // it is a helper on an engine, whose goroutine ends after this claim
	sampling limit.Sampling
}

// claiming is the claim of a worker, and what the size of the next one depends on.
type claiming struct {
	Claim
	end    int         // of the claim: the indexes from At to before it are left
	first  int         // the first of them whose call is not counted
	ticket race.Ticket // of At

	size    int           // of the next claim
	claim   int           // size of the last claim
	claimed time.Duration // when it made the last claim, by limit.Clock
}

// A permission is the permit of a worker.
type permission struct {
	has     bool // a permit that it must release
	permit  limit.Permit
	held    *limit.HeldPermit // nil if nobody else uses the limiter
	quantum limit.Quantum
}

func (w *worker) isCaller() bool { return w == &w.loop.caller }

// work takes indexes until none is left for w.
func (w *worker) work() {
	defer w.caught()
	for w.take() {
		if w.loop.traced() {
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

// rest reports whether calls are left of the claim.
func (w *worker) rest() bool { return w.end-w.At > 1 }

// leave is called when w has made its last call. The others of its claim do not start.
func (w *worker) leave() {
	if w.rest() {
		w.loop.cut.Store(true)
	}
}

// take gives w a claim, or what is left of one. It reports false if there is none, or the loop is
// stopped.
func (w *worker) take() bool {
	l := w.loop
	switch rest := w.rest(); {
	case !rest && (w.exits || !w.keepPermit()), l.stops():
		return false
	case rest: // after a Goexit
		w.At++
		return true
	case race.Sharp:
		return w.claimInOrder()
	}
	w.At, w.end = l.claim(w.measure())
	w.first, w.signs, w.limiter = w.At, &l.signs, l.lim
	w.claim = w.end - w.At
	return w.claim > 0
}

// A claim has several indexes if the calls of the claims before it were short, and fewer near the
// end of the loop, for which workers should arrive at about the same time. The clock is read once a
// claim.
const (
	maxClaim   = 128
	shortClaim = time.Microsecond // the next one is twice as large
	longClaim  = 4 * shortClaim   // the next one is one index
)

// measure returns how many indexes w claims. It is one if items are likely to wait: on a permit that
// was lent, and under a limit that is fixed above the number of CPUs or lets all items run at once.
// While the clock stands still, as in a synctest bubble, claims do not grow.
func (w *worker) measure() int {
	l := w.loop
	if n := l.lim.Bound(); l.Waits || n >= l.N || n > l.procs && !l.lim.Adaptive() || w.permit != (limit.Permit{}) || l.traced() {
		return 1
	}
	now := limit.Clock()
	switch took := now - w.claimed; {
	case took < 0 || took > longClaim: // negative after the start of a synctest bubble
		w.size = 1
	case 0 < took && took < shortClaim:
		w.size = min(2*w.size, maxClaim)
	}
	w.claimed = now
	return max(1, min(w.size, l.fresh()/(2*l.procs)))
}

// traced is call with a region.
func (w *worker) traced() {
	defer trace.StartRegion(w.ctx, w.loop.Name).End()
	w.call()
}

// call makes the calls of the claim, from the index in hand on.
func (w *worker) call() {
	l := w.loop
	if race.Sharp {
		if w.At < maxApart {
			w.callApart()
			return
		}
		l.lim.Order.Start(w.ticket)
		defer l.lim.Order.End(w.ticket)
	}
	w.calling = true
	for {
		if w.last = w.At; l.Endless {
			w.last = w.end - 1
		}
		if err := l.Calls(w.ctx, &w.Claim); err != nil {
			w.calling = false
			w.fail(task.Outcome{Err: err})
			w.calling = true
		}
		if !w.rest() || l.stops() {
			break
		}
		if l.has(wanted) || l.lim.Signs().Over() {
			l.returnRest(w.At+1, w.end)
			w.end = w.At + 1
			break
		}
		w.At++
	}
	w.calling = false
	if w.At >= w.first {
		w.count(0)
	}
}

// fail passes on the outcome of the call. The call is counted first: Failed calls functions of
// the caller, which may call Goexit.
func (w *worker) fail(o task.Outcome) {
	w.loop.lim.Failed()
	w.count(1)
	w.loop.tell(w.At, o)
}

// count counts the calls of the claim that have ended. failed is how many of them have failed.
func (w *worker) count(failed int) {
	lim, n := w.loop.lim, w.At+1-w.first
	w.first = w.At + 1
	lim.Completed(n)
	if c := lim.ActiveController(); c != nil {
		w.sampling.Done(c, n, failed)
	}
}

// keepPermit reports whether w has a permit for one more call. If a waiter should have the
// permit first, w gives it up and waits for another, or leaves: if the spare worker waits, or
// if it is a task of an engine.
func (w *worker) keepPermit() bool {
	l := w.loop
	switch {
	case w.permit != (limit.Permit{}): // lent: of use to its lender only
		return !w.permit.Wanted() || l.Engine == nil && w.returnPermit()
	case w.quantum.Lasts(l.pressure(), w.claim):
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
		l.spare.exists.Store(false)
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
