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

// A worker is a goroutine that runs tasks of an engine's sources. README.md has its states. A
// worker parks and leaves by itself.
//
// There may be many thousands of workers, so a worker is small: what few of them need is an
// allocation of its own.
type worker struct {
	engine   *Engine
	source   *Source     // of the running task
	ticket   race.Ticket // of the running task
	of       *Source     // that ctx is made for
	ctx      context.Context
	sampling limit.Sampling

	// guarded by engine.mu
	holder
	given  *turn         // runs first, and is in no queue; nil: none
	wake   sync.Cond     // for permit or leaving; a channel would be one more allocation
	parked time.Duration // when it has parked, by limit.Clock
	flags
}

// A holder has a permit, whenever permit of its worker is true.
type holder struct {
	slot    *limit.HeldPermit
	loan    *entry        // of the permit, for tasks of one source; nil: the permit is the engine's
	quantum limit.Quantum // started when it got the permit
}

// flags say where a worker is.
type flags struct {
	permit   bool // it has one
	needsCPU bool // it needs a free CPU before it goes to the queue
	leaving  bool
}

// host is the goroutine of w. After a Goexit of a task a new goroutine takes over the permit. A
// panic that gets here crashes the process before the task is seen as ended.
func (w *worker) host() {
	left := false
	defer func() {
		if left {
			return
		}
		if v := recover(); v != nil {
			panic(v)
		}
		go w.host() // it counts the task as ended
	}()
	if labels := w.engine.labels; labels != nil {
		pprof.SetGoroutineLabels(labels)
	}
	w.serve()
	left = true
}

// A turn is a task, and what its worker needs to take the next one of the same source. It is on
// the stack, which the worker uses anyway: with 50,000 workers each access to a worker is a cache
// miss.
type turn struct {
	task    Task
	source  *Source
	ctx     context.Context
	signs   limit.Signs  // while which the worker may claim; -1: it must look
	entered limit.Permit // of the source's own limiter, if it has one
}

// claim takes the next task of the same source without the lock, if it is open.
func (c *turn) claim() (ok bool) {
	s := c.source
	if s == nil || c.signs != s.engine.lim.Signs() || s.Context.Err() != nil {
		return false
	}
	if r := s.queue.ring.Load(); r != nil {
		c.task, ok = r.claim()
	}
	return ok
}

// serve runs tasks until the worker is to leave, or until a task ends by a Goexit.
func (w *worker) serve() {
	var c turn
	busy := false
	defer func() {
		if busy {
			w.count(&c, true)
		}
	}()
	for c.claim() || w.look(&c) {
		busy = true
		failed := false
		if race.Sharp && !c.source.Helpers {
			failed = w.apart(&c)
		} else {
			failed = c.run()
		}
		busy = false
		w.count(&c, failed)
	}
}

// run runs the task of c and reports whether it has failed.
func (c *turn) run() bool {
	if c.source.pass != nil {
		return c.enter()
	}
	return c.call(c.ctx)
}

// enter is run on a permit of the source's own limiter.
func (c *turn) enter() (failed bool) {
	s := c.source
	a := s.Limiter.Enter(c.ctx, c.entered, s.low)
	failed = true // by a Goexit, unless call returns
	defer func() { a.Release(failed) }()
	failed = c.call(a.Context())
	return failed
}

// call calls the runner with ctx. The runner is told of a panic or a Goexit by the deferred call.
func (c *turn) call(ctx context.Context) (failed bool) {
	s, returned := c.source, false
	defer func() {
		if !returned {
			failed = true
			s.failed(c.task, task.Unreturned(recover()))
		}
	}()
	if name := s.engine.name; name != "" && trace.IsEnabled() {
		defer trace.StartRegion(ctx, name).End()
	}
	err := s.Runner.Run(ctx, c.task)
	returned = true
	if err != nil {
		s.failed(c.task, task.Outcome{Err: err})
	}
	return err != nil
}

// apart is run in programs built with -race: see race.Apart. What the end of the task is ordered
// before is told to the detector: Source.Wait, and with the limit's order later tasks and whoever
// sees the task counted.
func (w *worker) apart(c *turn) bool {
	t, s, ticket, lim := *c, c.source, w.ticket, w.engine.lim // the task shares no memory with the worker
	failed, returned := race.Apart(func() bool {
		defer s.ends.Release()
		lim.Order.Start(ticket)
		defer lim.Order.End(ticket)
		return t.run()
	})
	s.Notify()
	return failed || !returned
}

// count counts the task of c as ended. Unless a controller counts tasks it does not touch w, which
// is a cache miss if the task has waited.
func (w *worker) count(c *turn, failed bool) {
	if c.source.Helpers {
		return
	}
	lim, failures := c.source.engine.lim, 0
	if failed {
		failures = 1
	}
	lim.Completed(1)
	if controller := lim.ActiveController(); controller != nil {
		w.sampling.Done(controller, 1, failures)
	}
}

// orderLocked gives the next task of s, which w has a permit for, its place in the order of the
// limit, when the task is taken from the queue.
func (w *worker) orderLocked(s *Source) {
	if lim := w.engine.lim; race.Sharp && !s.Helpers {
		w.ticket = lim.Order.Take(lim.Bound())
	}
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

// setContext gives w a context for its tasks; consecutive tasks of one source share
// it.
func (w *worker) setContext() {
	if w.of != w.source {
		w.of = w.source
		if s := w.of; s == w.engine.lasting {
			w.ctx = w.slot.TaskContext(s.Context, s.Parent, true)
		} else { // the slot must not keep its context
			w.ctx = limit.TaskContext(s.Context, w.slot, s.Parent, true)
		}
	}
}

// look ends the task of c and takes the next one under the lock. It waits if there is none, and
// returns false if the worker is to leave.
func (w *worker) look(c *turn) bool {
	e := w.engine
	*c = turn{signs: -1} // a worker that parks keeps no task
	e.mu.Lock()
	if w.source != nil {
		e.finishLocked(w.source)
		w.source = nil
	}
	for w.arriveLocked(); !w.takeLocked(c); w.arriveLocked() {
		if !w.parkLocked() {
			return false
		}
	}
	w.sampling.Start(e.lim)
	e.entry.wakeOneLocked()
	signs := e.lim.Signs()
	if w.loan == nil && e.pressureLocked(signs, w.source.low) == limit.None {
		c.signs = signs
	}
	e.mu.Unlock()
	w.setContext()
	c.source, c.ctx = w.source, w.ctx
	return true
}

// takeLocked takes the next task for w, if there is one and a permit for it.
func (w *worker) takeLocked(c *turn) bool {
	if g := w.given; g != nil {
		w.given, w.source, c.task, c.entered = nil, g.source, g.task, g.entered
		return true
	}
	s, p := w.chooseLocked()
	if s == nil {
		return false
	}
	w.source, c.task, c.entered = s, s.takeLocked(), p.permit()
	w.orderLocked(s)
	return true
}

// chooseLocked returns the source to take the next task from, or nil if there is none or no
// permit for it, and the pass that has one. It may unlock engine.mu meanwhile.
func (w *worker) chooseLocked() (*Source, *pass) {
	e := w.engine
	if y := w.loan; y != nil {
		if w.permit && y.lastsLocked() && e.enterLocked(y.source, y.pass) {
			return y.source, y.pass
		}
		w.returnLoanLocked()
	}
	for {
		s := e.nextLocked()
		if s == nil {
			return nil, nil
		}
		if !w.permit {
			if w.permit = e.entry.joinLocked(s); !w.permit {
				return nil, nil
			}
		} else if !w.keepLocked(s.low) {
			continue
		}
		if e.enterLocked(s, s.pass) {
			return s, s.pass
		}
	}
}

// returnLoanLocked returns the permit on loan.
func (w *worker) returnLoanLocked() {
	y := w.loan
	w.loan = nil
	if w.permit {
		w.permit = false
		next, _ := w.slot.Return(true)
		w.engine.grantLocked(next)
	}
	w.hold(limit.Permit{})
	y.coming = nil
	y.wakeLocked()
}

// hold makes p the permit of w.
func (w *worker) hold(p limit.Permit) {
	w.slot, w.ctx, w.of = limit.NewHeldPermit(w.engine.lim, p), nil, nil
}

// keepLocked reports whether w may run another task, of the given priority, on its permit. If a
// waiter should have the permit, w gives it up. It unlocks engine.mu meanwhile.
func (w *worker) keepLocked(low bool) bool {
	e := w.engine
	if w.quantum.Lasts(e.pressureLocked(e.lim.Signs(), low), 1) {
		return true
	}
	next, kept := e.lim.Yield(low)
	if kept {
		return true
	}
	if next == &e.entry.waiter { // it was the engine's own turn
		e.entry.awaiting = false
		w.quantum.Start()
		return true
	}
	w.permit = false
	e.grantLocked(next)
	return false
}

// parkLocked returns the permit and waits to be woken. It unlocks engine.mu meanwhile. It reports
// false, and leaves engine.mu unlocked, if w is to leave.
func (w *worker) parkLocked() bool {
	e := w.engine
	if w.permit {
		w.permit = false
		next, left := w.slot.Return(false)
		if left { // to a call that outlived its task
			w.hold(limit.Permit{})
		}
		e.grantLocked(next)
	}
	if e.draining && e.ready.first() == nil {
		e.leftLocked()
		e.mu.Unlock()
		return false
	}
	if w.of != e.lasting {
		w.ctx, w.of = nil, nil // the source may end before w is woken
	}
	w.parked = limit.Clock()
	e.idle = append(e.idle, w)
	e.armLocked(w.parked)
	for !w.permit && !w.leaving {
		w.wake.Wait()
	}
	w.sampling.Rest()
	if w.leaving {
		e.leftLocked()
		e.mu.Unlock()
		return false
	}
	return true
}

// arriveLocked records that w has reached the queue. Under an adaptive limit it first waits until
// a CPU is free for w. It unlocks engine.mu meanwhile.
func (w *worker) arriveLocked() {
	e := w.engine
	if w.needsCPU {
		w.needsCPU = false
		w.awaitCPULocked()
	}
	if e.entry.coming == w {
		e.entry.coming = nil
	}
}

func (w *worker) awaitCPULocked() {
	e, late := w.engine, w.quantum.Age()
	if late < auto.PromptWakeup {
		return
	}
	waits := e.waits
	e.mu.Unlock()
	waits = e.lim.NeedController().AwaitCPU(late, waits, nil)
	e.mu.Lock()
	e.waits = max(e.waits, waits)
}
