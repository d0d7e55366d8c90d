package work

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/stint-go/stint/internal/fifo"
	"github.com/stint-go/stint/internal/limit"
	"github.com/stint-go/stint/internal/race"
	"github.com/stint-go/stint/internal/task"
)

// A Source is one queue of an Engine: the tasks of a group, the helpers of a loop, or the
// tasks that a pool was given directly. Sources are served in turn, a task each.
type Source struct {
	ends   race.Ends
	engine *Engine
	SourceConfig
	low  bool  // its tasks have low priority
	room *room // its own, or that of the engine's first source
	pass *pass // nil: it has no limiter of its own

	// guarded by engine.mu
	own     room
	ready   fifo.Node[*Source] // in engine.ready
	active  fifo.Node[*Source] // in engine.active
	queue   queue
	blocked fifo.List[*submitter]
	running int
	ended   bool // takes no more tasks
	waiters
}

// waiters are the goroutines in Wait and AwaitLending.
type waiters struct {
	waiting atomic.Int32 // how many; written with mu held
	lenders int          // of them, with a permit to lend
	changed sync.Cond    // wakes them
	wakes   uint64       // how often it has
}

// SourceConfig configures a Source.
type SourceConfig struct {
	Context context.Context // for its tasks, with the scope of their worker; when it ends, queued tasks are dropped
	Room    int             // queued tasks beyond which a submitter waits, or SharedRoom
	Runner  Runner
	Parent  *limit.Scope   // of the call that the source belongs to, if a task made it or its priority is low
	Limiter *limit.Limiter // bounds its tasks too; nil: only that of the engine does
	Helpers bool           // its tasks are the helpers of one loop: they do not count as tasks
	Finite  bool           // a closed engine takes its tasks after the first
}

// NewSource returns one more source of e.
func (e *Engine) NewSource(c SourceConfig) *Source {
	s := &Source{engine: e, SourceConfig: c, low: c.Parent.IsLow()}
	s.changed.L = &e.mu
	s.pass = s.newPass(nil, c.Parent.Apart())
	if c.Room == SharedRoom {
		s.room = e.lasting.room
	} else {
		s.own.size, s.room = c.Room, &s.own
	}
	return s
}

// A Runner runs a Source's tasks.
type Runner interface {
	// Run runs one task on the calling goroutine.
	Run(ctx context.Context, t Task) error
	// Failed records how a task ended that did not return nil, before the task
	// counts as ended. After a panic it is called by the deferred function.
	Failed(t Task, o task.Outcome)
	// Abandoned records that the engine dropped the queued tasks.
	Abandoned()
}

// An Answer is the result of submitting a task.
type Answer int

const (
	Accepted Answer = iota // it will run, unless it is dropped while it is queued
	Full                   // no room now
	Over                   // the source takes no more tasks
	GaveUp                 // the submitter's context ended while it waited
)

// Offer submits a task if there is room for it at once: in the queue, or because a worker
// with a permit takes the first task of the queue. from is the scope of the calling task.
func (s *Source) Offer(payload any, from *limit.Scope) Answer {
	return s.offer(payload, from, false)
}

// Submit submits a task and waits for room for it, until done is closed. from is the
// scope of the calling task, or the source's. Its permits may be used meanwhile.
func (s *Source) Submit(done <-chan struct{}, payload any, from *limit.Scope) Answer {
	a := s.offer(payload, from, true)
	if a == Full {
		a = s.submit(done, payload, from)
		s.submitted(true)
	}
	return a
}

// offer is Offer, or the start of a Submit, which can wait.
func (s *Source) offer(payload any, from *limit.Scope, canWait bool) Answer {
	e, a := s.engine, Full
	e.mu.Lock()
	switch {
	case s.refusesLocked(from):
		a = Over
	case s.acceptLocked(payload, canWait):
		a = Accepted
	case !canWait && !s.Helpers:
		e.refused++
		e.lim.Refused()
	}
	e.mu.Unlock()
	if a == Accepted {
		s.submitted(false)
	}
	return a
}

// submitted tells the race detector which tasks have ended when a submitter has found room:
// the tasks that it may count on are those that are neither queued nor on a permit.
func (s *Source) submitted(waited bool) {
	e := s.engine
	if race.Sharp && !s.Helpers && (waited || s.room.size == 0 || s.Accepted() > s.room.size) {
		bound, out, _ := e.lim.Counts()
		e.lim.Order.Acquire(bound - out)
	}
}

// submit is Submit when there is no room at once.
func (s *Source) submit(done <-chan struct{}, payload any, from *limit.Scope) Answer {
	call := s.Parent // whose task waits for the source
	if from != s.Parent && !s.Parent.Belongs(from) {
		call = from.Call(nil, false)
	}
	call.Lend()
	defer call.Reclaim()
	l := s.newLoan(from)
	s.engine.mu.Lock()
	defer s.engine.mu.Unlock()
	if s.refusesLocked(from) {
		return Over
	}
	b := s.newSubmitterLocked(payload)
	s.room.admitLocked() // there may be room since offer looked
	s.engine.entry.wakeOneLocked()
	return b.waitLocked(done, l)
}

// Wait waits until no task is queued, running or being submitted, and ends the source.
// The permits of the task that made the source may be used meanwhile.
func (s *Source) Wait() {
	s.AwaitLending(func() bool {
		s.engine.mu.Lock()
		defer s.engine.mu.Unlock()
		idle := s.isIdleLocked()
		s.ended = s.ended || idle
		return idle
	})
	s.ends.Acquire()
}

// AwaitLending waits until condition holds, and may lend the permits of the task that
// made the source meanwhile. It calls condition first and after every change, without a
// lock.
func (s *Source) AwaitLending(condition func() bool) {
	s.Parent.Lend()
	defer s.Parent.Reclaim()
	l := s.newLoan(s.Parent)
	s.engine.mu.Lock()
	defer s.engine.mu.Unlock()
	s.waiting.Add(1)
	defer s.waiting.Add(-1)
	if l != nil {
		l.wakeLocked = s.wakeWaitersLocked
		s.lenders++
		defer func() { s.lenders-- }()
	}
	for wakes := s.wakes; !s.checkLocked(condition); wakes = s.wakes {
		for wakes == s.wakes {
			l.wakeOneLocked()
			s.changed.Wait()
		}
	}
	for !l.endLocked() {
		s.changed.Wait()
	}
}

// checkLocked calls condition. It unlocks engine.mu meanwhile.
func (s *Source) checkLocked(condition func() bool) bool {
	s.engine.mu.Unlock()
	defer s.engine.mu.Lock()
	return condition()
}

// Notify makes waiting goroutines check their condition again. It is called after the
// change, without a lock that a condition takes.
func (s *Source) Notify() {
	if s.waiting.Load() == 0 {
		return // a goroutine that comes later sees the change
	}
	s.engine.mu.Lock()
	defer s.engine.mu.Unlock()
	s.wakeWaitersLocked()
}

// NotifyAtEnd is Notify by a task of s that is about to end. In programs built with -race its
// worker does it when the task has ended, since the lock of the engine would order tasks.
func (s *Source) NotifyAtEnd() {
	if !race.Sharp {
		s.Notify()
	}
}

// Running returns how many tasks run.
func (s *Source) Running() int {
	s.engine.mu.Lock()
	defer s.engine.mu.Unlock()
	return s.running
}

// Accepted returns how many tasks were accepted.
func (s *Source) Accepted() int {
	s.engine.mu.Lock()
	defer s.engine.mu.Unlock()
	return s.queue.next
}

// Stop drops the queued tasks, refuses the waiting submitters and ends the source. Running
// tasks continue.
func (s *Source) Stop() {
	s.engine.mu.Lock()
	defer s.engine.mu.Unlock()
	s.stopLocked()
}

func (s *Source) stopLocked() {
	s.ended = true
	e := s.engine
	s.shutLocked()
	n := s.queue.clear()
	e.queued -= n
	s.room.queued -= n
	if !s.Helpers {
		e.dropped += uint64(n)
		if e.abandoning {
			e.abandoned += n
		}
	}
	s.refuseAllLocked()
	s.room.admitLocked() // submitters of other sources
	e.unreadyIfEmptyLocked(s)
	s.settleLocked()
}

// dropIfOverLocked stops s if its context has ended, and reports whether it has.
func (s *Source) dropIfOverLocked() bool {
	over := s.Context.Err() != nil
	if over {
		s.stopLocked()
	}
	return over
}

// Refuses reports whether Offer would answer Over. from is the scope of the calling task.
func (s *Source) Refuses(from *limit.Scope) bool {
	s.engine.mu.Lock()
	defer s.engine.mu.Unlock()
	return s.refusesLocked(from)
}

// refusesLocked reports whether the source takes no task; from is the submitter's scope. A closed
// engine must take what its tasks start, to run what it has accepted, unless it drops everything
// or no task is left.
func (s *Source) refusesLocked(from *limit.Scope) bool {
	e := s.engine
	switch {
	case s.ended || s.Context.Err() != nil:
		return true
	case !e.closed || s.Finite && s.queue.next > 0:
		return false
	}
	slot, _ := from.On(e.lim)
	return slot == nil || e.abandoning || e.running == 0
}

// refuseAllLocked tells the waiting submitters that the source has ended.
func (s *Source) refuseAllLocked() {
	for s.blocked.Len() > 0 {
		s.blocked.First().Value().leaveLocked(Over)
	}
}

// acceptLocked accepts a task that finds room at once. If the queue is full, a worker with a permit
// is handed the first task: with limit 4 and a queue of 2, six tasks find room before a worker has
// run. A submitter that can wait leaves a long queue to the worker that is on its way, and does not
// ask for a worker that must wait for a CPU.
func (s *Source) acceptLocked(payload any, canWait bool) bool {
	e, r := s.engine, s.room
	next := s
	if r.queued >= r.size {
		e.shutLocked() // not before: the claims are in the cache of another CPU
		if first := e.nextLocked(); first != nil {
			next = first
		}
	}
	switch {
	case r.blocked.Len() > 0: // behind those that came before
		return false
	case r.queued < r.size:
		s.enqueueLocked(payload)
	case canWait && (r.size >= longRoom || e.lim.NeedController().Crowded()):
		return false
	case e.entry.coming != nil && next.room == r:
		w, first := e.entry.coming, e.ready.first()
		if first == nil || first.low && !s.low {
			first = s
		}
		if !first.pass.takeLocked() {
			return false
		}
		e.entry.coming = nil
		s.exchangeLocked(w, first, payload)
	case !s.pass.takeLocked():
		return false
	case e.lim.TryAcquire():
		s.exchangeLocked(e.sendLocked(&e.entry), s, payload)
	default:
		s.pass.returnLocked()
		return false
	}
	e.entry.wakeOneLocked()
	return true
}

// exchangeLocked gives w the first task of first, if it has one, and appends one to the queue of s: in
// this order, so that a full queue needs no larger ring. Otherwise first is s, and w gets that task.
func (s *Source) exchangeLocked(w *worker, first *Source, payload any) {
	if first.queue.len() > 0 {
		s.engine.giveLocked(w, first, first.pass)
		s.enqueueLocked(payload)
	} else {
		s.enqueueLocked(payload)
		s.engine.giveLocked(w, s, s.pass)
	}
}

// enqueueLocked appends a task to the queue.
func (s *Source) enqueueLocked(payload any) {
	e := s.engine
	s.queue.push(payload)
	e.queued++
	s.room.queued++
	s.readyLocked()
}

// readyLocked is called when s has work.
func (s *Source) readyLocked() {
	s.engine.makeReadyLocked(s)
	if s.lenders > 0 {
		s.wakeWaitersLocked() // one of them may have a permit for it
	}
}

// takeLocked removes the next task from the queue, or takes that of the first submitter that
// waits. There must be one.
func (s *Source) takeLocked() Task {
	if s.queue.len() == 0 {
		s.blocked.First().Value().admitLocked()
	}
	t, e := s.queue.pop(), s.engine
	e.running++
	s.running++
	s.queue.trim(s.running)
	s.countLocked()
	s.room.admitLocked()
	e.rotateLocked(s)
	alone := e.ready.first() == s && e.ready.of(s.low).Len() == 1
	if alone && s.room.blocked.Len() == 0 && s.pass == nil && !s.Helpers && !race.Sharp {
		s.queue.open()
	}
	return t
}

// countLocked counts the tasks that were taken from the queue. A claim ends one task and starts
// another, so as many tasks run as before.
func (s *Source) countLocked() {
	n, e := s.queue.taken(), s.engine
	e.queued -= n
	s.room.queued -= n
	e.started += uint64(n)
}

// shutLocked ends the claims without the lock, and counts them.
func (s *Source) shutLocked() {
	s.queue.shut()
	s.countLocked()
}

// hasWorkLocked reports whether a worker would find something to do.
func (s *Source) hasWorkLocked() bool { return s.queue.len()+s.blocked.Len() > 0 }

// isIdleLocked reports whether nothing is queued, running or being submitted.
func (s *Source) isIdleLocked() bool { return s.queue.len()+s.running+s.blocked.Len() == 0 }

// wakeWaitersLocked makes the waiting goroutines check their condition.
func (s *Source) wakeWaitersLocked() {
	s.wakes++
	s.changed.Broadcast()
}

// settleLocked is called after every change that a goroutine may wait for.
func (s *Source) settleLocked() {
	idle := s.isIdleLocked()
	if idle {
		s.queue.rest()
		s.active.Remove()
	}
	if s.waiting.Load() > 0 && (s.ended || idle) {
		s.wakeWaitersLocked()
	}
	s.engine.settleLocked()
}
