package work

import (
	"context"
	"runtime/pprof"
	"time"

	"github.com/stint-go/stint/internal/limit"
	"github.com/stint-go/stint/internal/line"
)

// A worker is a goroutine that runs tasks of an engine's sources.
//
//	working   has a permit; takes a task from the next source, runs it, again
//	parked    in engine.idle, without a permit, until wake
//	leaving   told by dismiss, or found nothing in an engine that drains
//
// Only working -> parked and -> leaving are the worker's own steps; who takes it
// out of engine.idle under engine.mu owes it one send on wake.
type worker struct {
	engine *Engine
	wake   chan struct{} // cap 1; made when it first parks
	slot   *limit.Slot
	visit  *visitor // whose permit it has, for tasks of one source; nil: the engine's

	permit   bool          // guarded by engine.mu, as are the next seven
	arriving bool          // counted in arriving, of the engine or of a source
	since    time.Duration // when it got the permit
	turns    int           // tasks since then that it ran while others waited
	parked   time.Duration // when it parked last
	leaving  bool
	place    line.Place[*worker] // in engine.all
	owed     *limit.Waiter       // has the permit now, and is told after unlocking

	task *Source // of the task in hand
	left bool    // ended as it should, not by a Goexit
	ctx  context.Context
	of   *Source // whose context ctx is made from
}

// start sends w to work. A nil w is none.
func (w *worker) start() {
	switch {
	case w == nil:
	case w.wake == nil:
		go w.main()
	default:
		w.wake <- struct{}{}
	}
}

func (w *worker) main() {
	defer w.end()
	if w.engine.labels != nil {
		pprof.SetGoroutineLabels(w.engine.labels)
	}
	w.work()
	w.left = true
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
	e := w.engine
	e.mu.Lock()
	e.finish(w.task)
	w.task = nil
	e.mu.Unlock()
	go w.main()
}

// work runs tasks until the worker is to leave.
func (w *worker) work() {
	e := w.engine
	w.renew()
	e.mu.Lock()
	w.arrive()
	for {
		s := w.choose()
		if s == nil {
			if !w.park() {
				return
			}
			continue
		}
		if s.Context.Err() != nil {
			s.stop()
			w.pay()
			continue
		}
		t := s.take()
		next := e.rouse()
		owed := w.owed
		w.owed = nil
		e.mu.Unlock()
		grant(owed)
		next.start()

		w.task = s
		e.run(w.context(s), s, t)
		w.task = nil
		w.renew()

		e.mu.Lock()
		e.finish(s)
	}
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

// context returns the context for a task of s. Tasks of one source that follow
// each other on one worker share it.
func (w *worker) context(s *Source) context.Context {
	if w.of != s {
		w.of = s
		w.ctx = limit.With(s.Context, w.slot, s.Home, true)
	}
	return w.ctx
}

// renew replaces a slot that the last task left calls behind on.
func (w *worker) renew() {
	if !w.slot.Busy() {
		return
	}
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
		now := time.Since(e.epoch)
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
	owed := w.owed
	w.owed = nil
	if e.draining && e.ready.Len() == 0 {
		e.left(w)
		e.mu.Unlock()
		grant(owed)
		return false
	}
	if w.wake == nil {
		w.wake = make(chan struct{}, 1)
	}
	w.ctx, w.of = nil, nil
	w.parked = time.Since(e.epoch)
	e.idle = append(e.idle, w)
	e.arm(w.parked)
	e.mu.Unlock()
	grant(owed)

	<-w.wake
	e.mu.Lock()
	if w.leaving {
		e.left(w)
		e.mu.Unlock()
		return false
	}
	w.arrive()
	return true
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
	}
	w.arriving = false
}

func grant(w *limit.Waiter) {
	if w != nil {
		w.Grant()
	}
}
