package work

import (
	"context"
	"runtime/pprof"
	"runtime/trace"
	"sync"
	"time"

	"github.com/stint-go/stint/internal/auto"
	"github.com/stint-go/stint/internal/limit"
	"github.com/stint-go/stint/internal/race"
	"github.com/stint-go/stint/internal/task"
)

// A worker is a goroutine that runs tasks of an engine's sources. README.md has its states.
// A worker parks and leaves by itself. The step that takes it out of engine.idle sets
// called and owes it one Signal.
//
// There may be many thousands of workers, so a worker is small: what few of them need is an
// allocation of its own.
type worker struct {
	ticket   race.Ticket // of the running task
	engine   *Engine
	slot     *limit.HeldPermit
	source   *Source // of the running task
	of       *Source // that ctx is made for
	ctx      context.Context
	loan     *loan // of its permit, for tasks of one source; nil: the permit is the engine's
	sampling limit.Sampling

	// guarded by engine.mu
	given    *given        // runs first; nil: none
	owed     *limit.Waiter // has the permit now; Grant is called after unlocking
	wake     sync.Cond     // a channel would be one more allocation
	quantum  limit.Quantum // started when it got the permit
	parked   time.Duration // when it has parked, by limit.Clock
	permit   bool
	needsCPU bool // it needs a free CPU before it goes to the queue
	arriving bool // on its way to the queue; without a loan, counted in engine.arriving
	leaving  bool
	started  bool // has a goroutine
	called   bool // out of engine.idle again

	left bool // its goroutine ends, and not by a Goexit
}

// A given task belongs to one worker: its source has no queue.
type given struct {
	task   Task
	source *Source
}

// start starts or wakes w, which may be nil.
func (w *worker) start() {
	switch {
	case w == nil:
	case !w.started:
		w.started = true
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
	w.left = true
}

// end is the last call of the goroutine. After a Goexit of a task a new goroutine takes
// over the permit. A panic that gets here crashes the process before the task is seen as
// ended.
func (w *worker) end() {
	if w.left {
		return
	}
	if v := recover(); v != nil {
		panic(v)
	}
	go w.engine.host(w) // it counts the task as ended
}

// serve runs tasks until the worker is to leave, or until a task does not return: then it
// reports that the worker continues.
func (w *worker) serve() (more bool) {
	var (
		t     Task
		c     claimCache
		lim   = w.engine.lim
		stage = counted // of t
	)
	defer func() { // deferred first: Failed calls functions of the caller, which may call Goexit
		if stage != counted {
			w.count(&c, lim, 1)
			c.read()
			more = true
		}
	}()
	defer func() {
		if stage == running {
			w.source.failed(t, task.Unreturned(recover()))
		}
	}()
	for w.next(&t, &c, lim) {
		stage = running
		var err error
		failed := 0
		switch {
		case race.Sharp && !c.source.Helpers:
			failed = w.apart(c.source, c.ctx, t)
		case w.engine.name != "" && trace.IsEnabled():
			err = c.traced(t)
		default: // called here, since a frame more would be a part of each stack
			err = c.source.Runner.Run(c.ctx, t)
		}
		stage = returned
		if err != nil {
			failed = 1
			c.source.failed(t, task.Outcome{Err: err})
		}
		stage = counted
		w.count(&c, lim, failed)
	}
	return false
}

// The stages of a task of a worker.
const (
	counted  = iota // as ended; or there is none
	running         // its function has not returned
	returned        // not counted yet; its failure is being recorded
)

// next takes the next task: by a claim, or else by look. It reports false if the worker is to
// leave.
func (w *worker) next(t *Task, c *claimCache, lim *limit.Limiter) bool {
	claimed, last := false, false
	if *t, last, claimed = c.claim(lim); last {
		w.refill()
	}
	return claimed || w.look(t, c)
}

// count counts a task as ended. failed is 1 if it has failed, and 0 otherwise. It does not read
// w, unless a controller counts tasks.
func (w *worker) count(c *claimCache, lim *limit.Limiter, failed int) {
	if !c.source.Helpers {
		lim.Completed(1)
		w.sampling.Done(lim, 1, failed)
	}
}

// orderLocked gives the next task of s, which w has a permit for, its place in the order of the
// limit, when the task is taken from the queue.
func (w *worker) orderLocked(s *Source) {
	if lim := w.engine.lim; race.Sharp && !s.Helpers {
		w.ticket = lim.Order.Take(lim.Bound())
	}
}

// apart runs a task in programs built with -race, and returns 1 if it has failed: see
// race.Apart. What its end is ordered before is told to the detector: Source.Wait, and with the
// limit's order later tasks and whoever sees the task counted.
func (w *worker) apart(s *Source, ctx context.Context, t Task) int {
	ticket, lim := w.ticket, w.engine.lim // the task shares no memory with the worker
	failed, returned := race.Apart(func() (failed bool) {
		defer s.ends.Release()
		lim.Order.Start(ticket)
		defer lim.Order.End(ticket)
		returned := false
		defer func() {
			if !returned {
				failed = true
				s.failed(t, task.Unreturned(recover()))
			}
		}()
		if name := s.engine.name; name != "" && trace.IsEnabled() {
			defer trace.StartRegion(ctx, name).End()
		}
		err := s.Runner.Run(ctx, t)
		returned = true
		if err != nil {
			s.failed(t, task.Outcome{Err: err})
		}
		return err != nil
	})
	s.Notify()
	if failed || !returned {
		return 1
	}
	return 0
}

// failed records how a task of s ended. It takes no lock of the engine, which would order the
// tasks for the race detector.
func (s *Source) failed(t Task, o task.Outcome) {
	if !s.Helpers {
		s.engine.lim.Failed()
		s.engine.failed.Add(1)
	}
	s.Runner.Failed(t, o)
}

// A claimCache holds the state with which a worker claims tasks without the lock. It is on
// the stack, which the worker uses anyway: with 50,000 workers each access to a worker is a
// cache miss.
type claimCache struct {
	source *Source // of the task before; nil: look
	ctx    context.Context
	signs  limit.Signs // while which it need not look; -1: it must look
	from   *segment    // of the task before
	unread int         // tasks of from that its count lacks
}

// claim takes the next task without the lock, and reports whether it did. If the task was
// the last that could be claimed, refill must follow. If claim takes no task, the worker
// must look, and the cache is empty, so that it keeps nothing of the task before.
func (c *claimCache) claim(l *limit.Limiter) (t Task, last, ok bool) {
	var g *segment
	if s := c.source; s != nil && c.signs == l.Signs() && s.Context.Err() == nil {
		g = s.front.Load()
	}
	if g != nil {
		t, last, ok = g.claim()
	}
	if !ok {
		c.drop()
		return t, false, false
	}
	if g == c.from { // counted together with the task before
		c.unread++
	} else {
		c.read()
		c.from = g
		g.read.Add(1)
	}
	if last {
		c.read()
	}
	return t, last, true
}

// read brings the count of the segment up to date.
func (c *claimCache) read() {
	if c.unread > 0 {
		c.from.read.Add(int64(c.unread))
		c.unread = 0
	}
}

// drop makes the worker look before the next task.
func (c *claimCache) drop() {
	c.read()
	*c = claimCache{}
}

func (c *claimCache) traced(t Task) error {
	defer trace.StartRegion(c.ctx, c.source.engine.name).End()
	return c.source.Runner.Run(c.ctx, t)
}

// setContext gives w a context for its tasks; consecutive tasks of one source share
// it.
func (w *worker) setContext() {
	if w.of != w.source {
		w.of = w.source
		if s := w.of; s.lasts() {
			w.ctx = w.slot.TaskContext(s.Context, s.Parent, true)
		} else { // the slot must not keep its context
			w.ctx = limit.TaskContext(s.Context, w.slot, s.Parent, true)
		}
	}
}

// refill is called after the last open task was claimed, before it runs.
func (w *worker) refill() {
	w.engine.mu.Lock()
	w.source.refillLocked()
	w.engine.unlock(w.engine.wakeOneLocked())
}

// look takes the next task under the lock, and waits for one if there is none. It returns
// false if the worker is to leave.
func (w *worker) look(t *Task, c *claimCache) (ok bool) {
	e := w.engine
	e.mu.Lock()
	w.awaitCPULocked()
	e.reconcileLocked()
	w.arriveLocked()
	if w.source != nil {
		e.finishLocked(w.source)
		w.source = nil
	}
	for {
		s := w.chooseLocked()
		switch {
		case s == nil:
			if !w.parkLocked() {
				return false
			}
			continue
		case w.given != nil:
			*t, ok = w.given.task, true
			w.given = nil
		case s.Context.Err() != nil:
			s.stopLocked()
		default:
			if *t, ok = s.takeLocked(); ok {
				w.orderLocked(s)
			}
		}
		if ok {
			w.source = s
			break
		}
		w.payLocked()
	}
	w.sampling.Start(e.lim)
	w.payLocked()
	next := e.wakeOneLocked()
	signs := w.fastPathSignsLocked()
	e.unlock(next)
	w.setContext()
	*c = claimCache{source: w.source, ctx: w.ctx, signs: signs}
	return true
}

// payLocked tells the waiter that is owed a grant. It unlocks engine.mu meanwhile.
func (w *worker) payLocked() {
	if owed := w.owed; owed != nil {
		w.owed = nil
		w.engine.mu.Unlock()
		owed.Grant()
		w.engine.mu.Lock()
	}
}

// chooseLocked returns the source to take the next task from, or nil if there is none or no
// permit for it.
func (w *worker) chooseLocked() *Source {
	if w.given != nil {
		return w.given.source
	}
	if w.loan != nil {
		if w.permit && w.loan.servesLocked() {
			return w.loan.source
		}
		w.returnLoanLocked()
	}
	s := w.engine.nextLocked()
	if s == nil || !w.keepLocked(s.low) {
		return nil
	}
	return s
}

// returnLoanLocked returns the permit on loan.
func (w *worker) returnLoanLocked() {
	v := w.loan
	w.loan = nil
	if w.permit {
		w.permit = false
		w.owed, _ = w.slot.Return(true)
	}
	w.slot, w.ctx, w.of = limit.NewHeldPermit(w.engine.lim, limit.Permit{}), nil, nil
	v.lent = false
	v.wakeLocked()
}

// fastPathSignsLocked returns the signs of the limiter under which w may claim tasks of its
// source, or -1 if somebody other than the engine should have the permit.
func (w *worker) fastPathSignsLocked() limit.Signs {
	e, low := w.engine, w.source.low
	if signs := e.lim.Signs(); w.loan == nil && signs.Pressure(low, e.ownWaitersLocked(low)) == limit.None {
		return signs
	}
	return -1
}

// keepLocked reports whether w may run another task, of the given priority, on its permit. If a
// waiter should have the permit, w gives it up and the engine queues again.
func (w *worker) keepLocked(low bool) bool {
	e := w.engine
	if w.permit {
		if w.quantum.Lasts(e.lim.Pressure(low, e.ownWaitersLocked(low)), 1) {
			return true
		}
		next, kept := e.lim.Yield(low)
		if kept {
			return true
		}
		if next == &e.waiter { // it was the engine's own turn
			e.awaiting = false
			w.quantum.Start()
			return true
		}
		w.permit, w.owed = false, next
	}
	if !e.awaiting {
		e.waiter.Low = low
		e.awaiting = !e.lim.Join(&e.waiter, nil)
		w.permit = !e.awaiting
	}
	return w.permit
}

// parkLocked returns the permit and waits to be woken. It unlocks engine.mu meanwhile. It reports
// false, and leaves engine.mu unlocked, if w is to leave.
func (w *worker) parkLocked() bool {
	e := w.engine
	if w.permit {
		w.permit = false
		left := false
		if w.owed, left = w.slot.Return(false); left { // to a call that outlived its task
			w.slot, w.ctx, w.of = limit.NewHeldPermit(e.lim, limit.Permit{}), nil, nil
		}
	}
	if e.draining && e.ready.Len() == 0 {
		e.leftLocked()
		owed := w.owed
		e.mu.Unlock()
		grant(owed)
		return false
	}
	if w.of != nil && !w.of.lasts() {
		w.ctx, w.of = nil, nil // the source may end before w is woken
	}
	w.parked = limit.Clock()
	e.idle = append(e.idle, w)
	e.armLocked(w.parked)
	w.payLocked()
	for !w.called {
		w.wake.Wait()
	}
	w.called = false
	w.sampling.Rest()
	if w.leaving {
		e.leftLocked()
		e.mu.Unlock()
		return false
	}
	w.awaitCPULocked()
	w.arriveLocked()
	return true
}

// awaitCPULocked blocks a worker that was sent to the queue under an adaptive limit until a CPU
// is free for it. It unlocks engine.mu meanwhile.
func (w *worker) awaitCPULocked() {
	if !w.needsCPU {
		return
	}
	w.needsCPU = false
	e := w.engine
	late, waits := w.quantum.Age(), e.waits
	if late < auto.PromptWakeup {
		return
	}
	e.mu.Unlock()
	waits = e.lim.NeedController().AwaitCPU(late, waits, nil)
	e.mu.Lock()
	e.waits = max(e.waits, waits)
}

// arriveLocked records that w has reached the queue.
func (w *worker) arriveLocked() {
	switch {
	case !w.arriving:
		return
	case w.loan == nil:
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
