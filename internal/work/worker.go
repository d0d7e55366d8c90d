package work

import (
	"context"
	"runtime/pprof"
	"runtime/trace"
	"sync"
	"time"

	"github.com/stint-go/stint/internal/auto"
	"github.com/stint-go/stint/internal/limit"
	"github.com/stint-go/stint/internal/task"
)

// A worker is a goroutine that runs tasks of an engine's sources. README.md has its
// states. To park and to leave are steps of its own; who takes it out of engine.idle
// under engine.mu sets called and owes it one Signal. A Cond is part of the worker; a
// channel would be one more allocation for each that parks.
type worker struct {
	engine *Engine
	slot   *limit.Slot
	source *Source // of the task in hand
	signs  int32   // of the limiter, while which it need not look; -1: it must
	left   bool    // its goroutine has ended as it should, not by a Goexit
	of     *Source // whose context ctx is made from
	ctx    context.Context
	visit  *visitor // whose permit it has, for tasks of one source; nil: the engine's

	meter *auto.Meter // made when it is needed first

	permit   bool // guarded by engine.mu, as is what follows
	patient  bool // it needs a free processor before it goes to the queue
	arriving bool // counted in arriving, of the engine or of a source
	leaving  bool
	turns    int           // tasks since it got the permit that it ran while others waited
	since    time.Duration // when it got the permit, or parked
	owed     *limit.Waiter // has the permit now, and is told after unlocking
	given    Task          // runs before it looks for others
	givenBy  *Source       // nil: none
	begun    bool          // has a goroutine
	called   bool          // out of engine.idle again
	wake     sync.Cond
}

// start sends w to work. A nil w is none.
func (w *worker) start() {
	switch {
	case w == nil:
	case !w.begun:
		w.begun = true
		go w.engine.host(w)
	default:
		w.wake.Signal()
	}
}

// host is the goroutine of w.
func (e *Engine) host(w *worker) {
	defer w.end()
	if e.labels != nil {
		pprof.SetGoroutineLabels(e.labels)
	}
	for w.serve() {
	}
	w.left = w.engine == e // which is in use to the last: Inside finds it in the trace
}

// end is the last of the goroutine. A task that called Goexit ends it early: a
// new goroutine takes over permit and place. A panic that comes this far is to
// crash the process, before anybody can see the task as ended.
func (w *worker) end() {
	if w.left {
		return
	}
	if v := recover(); v != nil {
		panic(v)
	}
	go w.engine.host(w) // it counts the task as ended
}

// serve runs tasks until the worker is to leave, or one of them has panicked: then
// it reports that it wants to go on.
func (w *worker) serve() (more bool) {
	var t Task
	e, h, busy := w.engine, hand{}, false
	defer func() {
		if busy {
			w.source.Job.Failed(t, task.Unreturned(recover()))
			h.read()
			more = true
		}
	}()
	for {
		if e.lim.Nested() && w.slot.Busy() {
			w.renew()
			h.drop()
		}
		var last bool
		if t, last, busy = h.claim(e.lim); last {
			w.refill()
		}
		if !busy {
			if t, busy = w.look(); !busy {
				return false
			}
			h = hand{source: w.source, ctx: w.ctx, signs: w.signs}
		}
		var err error
		if e.name != "" && trace.IsEnabled() {
			err = h.traced(t)
		} else {
			err = h.source.Job.Run(h.ctx, t)
		}
		busy = false
		if err != nil {
			h.source.Job.Failed(t, task.Outcome{Err: err})
		}
		if e.tuner != nil && e.tuner.Active() && !h.source.Own {
			w.measured()
		}
	}
}

// A hand is what a worker needs from one task to the next while it need not look.
// It is on the stack, which is touched anyway: there may be many more workers than
// a cache holds, and a worker whose turn has come is in none.
type hand struct {
	source *Source // of the task before; nil: look
	ctx    context.Context
	signs  int32    // of the limiter, under which no look is needed
	from   *segment // of the task before
	unread int      // tasks of from that its count does not have yet
}

// claim takes the next task without the lock, if that may be done: the task before
// has ended. When it was the last that could be claimed, refill must follow. When
// there is none it returns no task, so that the one before is not kept.
func (h *hand) claim(l *limit.Limiter) (t Task, last, ok bool) {
	var g *segment
	if s := h.source; s != nil && h.signs == l.Signs() && s.Context.Err() == nil {
		g = s.front.Load()
	}
	if g != nil {
		t, last, ok = g.claim()
	}
	if !ok {
		h.drop() // while it looks, and parks perhaps, it keeps nothing
		return t, false, false
	}
	if g == h.from { // soon after the one before: they are counted together
		h.unread++
	} else {
		h.read()
		h.from = g
		g.read.Add(1)
	}
	if last {
		h.read()
	}
	return t, last, true
}

// read brings the count of the segment up to date.
func (h *hand) read() {
	if h.unread > 0 {
		h.from.read.Add(int64(h.unread))
		h.unread = 0
	}
}

// drop makes the worker look before the next task.
func (h *hand) drop() {
	h.read()
	*h = hand{}
}

func (h *hand) traced(t Task) error {
	defer trace.StartRegion(h.ctx, h.source.engine.name).End()
	return h.source.Job.Run(h.ctx, t)
}

// situate gives w a context for its tasks, which those of one source that follow
// each other share.
func (w *worker) situate() {
	if w.of != w.source {
		w.of = w.source
		if s := w.of; s.lasting {
			w.ctx = w.slot.Carry(s.Context, s.Home, true)
		} else { // which the slot must not keep
			w.ctx = limit.With(s.Context, w.slot, s.Home, true)
		}
	}
}

// refill follows the claim of the last open task, before it is run.
func (w *worker) refill() {
	w.engine.mu.Lock()
	w.source.refill()
	w.engine.unlock(w.engine.rouse())
}

// look takes the next task under the lock, and waits for one if there is none. It
// returns false when the worker is to leave.
func (w *worker) look() (t Task, ok bool) {
	e := w.engine
	e.mu.Lock()
	w.wait()
	e.account()
	came := w.arriving && w.visit == nil
	w.arrive()
	if w.source != nil {
		e.finish(w.source)
		w.source = nil
	}
	for {
		s := w.choose()
		switch {
		case s == nil:
			if !w.park() {
				return Task{}, false
			}
			continue
		case w.givenBy != nil:
			t, ok = w.given, true
			w.given, w.givenBy = Task{}, nil
		case s.Context.Err() != nil:
			s.stop()
		default:
			t, ok = s.take()
		}
		if ok {
			w.source = s
			break
		}
		w.pay()
	}
	w.pay()
	next := e.rouse()
	if came && e.awaiting { // nobody else makes room by coming
		e.fill()
	}
	w.signs = w.calm()
	e.unlock(next)
	w.situate()
	return t, true
}

// measured counts a task as ended for the tuner.
func (w *worker) measured() {
	if w.meter == nil {
		w.meter = new(auto.Meter)
	}
	w.meter.Done(w.engine.tuner, 1)
}

// pay tells the waiter that is owed a grant. It is called with engine.mu held,
// which it releases meanwhile.
func (w *worker) pay() {
	if owed := w.owed; owed != nil {
		w.owed = nil
		w.engine.mu.Unlock()
		owed.Grant()
		w.engine.mu.Lock()
	}
}

// choose returns the source to take the next task from, or nil when there is none
// or no permit for it. It is called with engine.mu held.
func (w *worker) choose() *Source {
	if w.givenBy != nil {
		return w.givenBy
	}
	if w.visit != nil {
		if w.permit && w.visit.serves() {
			return w.visit.source
		}
		w.giveBack()
	}
	if w.engine.ready.Len() == 0 || !w.keep() {
		return nil
	}
	return w.engine.ready.First().Of()
}

// giveBack ends a visit. It is called with engine.mu held.
func (w *worker) giveBack() {
	v := w.visit
	w.visit = nil
	if w.permit {
		w.permit = false
		w.owed = w.engine.lim.Free(v.waiter.Permit)
	}
	w.slot, w.ctx, w.of = limit.NewSlot(w.engine.lim, limit.Permit{}), nil, nil
	v.lent = false
	v.wake()
}

// calm returns the signs of the limiter under which w may take tasks without a
// look: nobody but the engine is in line. Otherwise it returns -1. It is called
// with engine.mu held.
func (w *worker) calm() int32 {
	e := w.engine
	if signs := e.lim.Signs(); w.visit == nil && int(signs) <= e.own() {
		return signs
	}
	return -1
}

// renew replaces a slot that the last task left calls behind on.
func (w *worker) renew() {
	if !w.slot.Retire() {
		w.engine.mu.Lock()
		w.permit = false
		w.engine.mu.Unlock()
	}
	w.slot = limit.NewSlot(w.engine.lim, w.slot.Permit())
	w.ctx, w.of = nil, nil
}

// keep reports whether w may run another task on its permit. If somebody else
// should have it, w gives it away and the engine stands in line again. It is
// called with engine.mu held.
func (w *worker) keep() bool {
	e := w.engine
	if w.permit {
		if !e.lim.Contended(e.own()) {
			return true
		}
		now := e.now()
		w.turns++
		if !e.lim.Over() && w.turns < limit.Turns && now-w.since < limit.Quantum {
			return true
		}
		next, kept := e.lim.Yield()
		if kept {
			return true
		}
		if next == &e.waiter { // it was the engine's own turn
			e.awaiting = false
			w.since, w.turns = now, 0
			return true
		}
		w.permit, w.owed = false, next
	}
	if !e.awaiting {
		e.awaiting = !e.lim.Join(&e.waiter, nil)
		w.permit = !e.awaiting
	}
	return w.permit
}

// park gives the permit back and waits to be woken. It reports false when w is
// to leave. It is called with engine.mu held, which it releases meanwhile, and
// in the end when it reports false.
func (w *worker) park() bool {
	e := w.engine
	if w.permit {
		w.permit = false
		w.owed = e.lim.Free(limit.Permit{})
	}
	if e.draining && e.ready.Len() == 0 {
		e.left()
		owed := w.owed
		e.mu.Unlock()
		grant(owed)
		return false
	}
	if w.of != nil && !w.of.lasting {
		w.ctx, w.of = nil, nil // it may end before w is woken
	}
	w.since = e.now()
	e.idle = append(e.idle, w)
	e.arm(w.since)
	w.pay()
	for !w.called {
		w.wake.Wait()
	}
	w.called = false
	if w.meter != nil {
		w.meter.Rest()
	}
	if w.leaving {
		e.left()
		e.mu.Unlock()
		return false
	}
	w.wait()
	w.arrive()
	return true
}

// wait lets a worker that was sent to the queue, where the limit finds itself, wait
// for a free processor, when there are as many at work as processors. It is called
// with engine.mu held, which it releases meanwhile.
func (w *worker) wait() {
	if !w.patient {
		return
	}
	w.patient = false
	e := w.engine
	late, waits := e.now()-w.since, e.waits
	e.mu.Unlock()
	waits = auto.Await(late, waits, e.crowded)
	e.mu.Lock()
	e.waits = max(e.waits, waits)
}

// crowded reports whether the limit finds itself and more permits are out than there
// are processors: one more worker is of use only if a processor is free for it, which
// it finds out itself.
func (e *Engine) crowded() bool {
	if e.tuner == nil {
		return false
	}
	n, _ := e.lim.Load()
	return e.tuner.Crowded(n)
}

// arrive counts w as at the queue. It is called with engine.mu held.
func (w *worker) arrive() {
	switch {
	case !w.arriving:
		return
	case w.visit != nil:
		w.visit.source.arriving--
	default:
		w.engine.arriving--
		w.engine.waking = false
		w.engine.arrivals++
	}
	w.arriving = false
}

func grant(w *limit.Waiter) {
	if w != nil {
		w.Grant()
	}
}
