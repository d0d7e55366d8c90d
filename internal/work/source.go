package work

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/stint-go/stint/internal/fifo"
	"github.com/stint-go/stint/internal/limit"
	"github.com/stint-go/stint/internal/race"
	"github.com/stint-go/stint/internal/task"
)

// maxBatchWait is how long a submitter of a long queue waits for a quarter of the
// queue rather than for one slot.
const maxBatchWait = time.Millisecond

// A Source is one queue of an Engine: the tasks of a group, the helpers of a loop, or the
// tasks that a pool was given directly. Sources are served in turn, a task each.
type Source struct {
	ends   race.Ends
	engine *Engine
	SourceConfig

	front atomic.Pointer[segment] // that was opened last; its tasks are claimed without the lock

	batches     BatchRunner // its Runner, if that is one
	room        *room       // its own, or that of the engine's first source
	segmentSize int         // tasks in a segment, at most
	low         bool        // its tasks have low priority

	// guarded by engine.mu
	own      room
	ready    fifo.Node[*Source] // in engine.ready
	queue    queue
	blocked  fifo.List[*submitter]
	running  int
	accepted int  // tasks so far: the number of the next
	ended    bool // takes no more tasks

	waiting atomic.Int32 // goroutines in Wait and AwaitLending; written with mu held
	lenders int          // of them, with a permit to lend
	changed sync.Cond    // wakes them
	wakes   uint64       // how often it has
}

// SourceConfig configures a Source.
type SourceConfig struct {
	Context context.Context // for its tasks, with the scope of their worker; when it ends, queued tasks are dropped
	Room    int             // queued tasks beyond which a submitter waits, or SharedRoom
	Runner  Runner
	Parent  *limit.Scope // of the call that the source belongs to, if a task made it or its priority is low
	Shared  bool         // one of several sources of its engine
	Helpers bool         // its tasks are the helpers of one loop: they do not count as tasks, and a closed engine takes them after the first
}

func (s *Source) init(e *Engine, c SourceConfig) {
	s.engine, s.SourceConfig = e, c
	s.low = c.Parent.IsLow()
	s.batches, _ = c.Runner.(BatchRunner)
	s.changed.L = &e.mu
	if c.Room == SharedRoom {
		s.room = e.lasting.room
	} else {
		s.own.size, s.room = c.Room, &s.own
	}
	s.segmentSize = s.room.segmentSize()
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

// A BatchRunner is a Runner that makes its tasks so large that each takes about the
// same time.
type BatchRunner interface {
	// Short reports whether a task is a batch of several calls. The rate at which such
	// tasks end says nothing, so the limiter's controller is not told that one waits.
	// It runs under the lock of the engine, and must not block.
	Short() bool
}

// An Answer is the result of submitting a task.
type Answer int

const (
	Accepted Answer = iota // it will run, unless it is dropped while it is queued
	Full                   // no room now
	Over                   // the source takes no more tasks
	GaveUp                 // the submitter's context ended while it waited
)

// Offer submits a task if there is room for it at once: in the queue, or because a permit
// is free for a worker. Without a queue, an accepted task belongs to a worker and will run.
// from is the scope of the calling task.
func (s *Source) Offer(payload any, from *limit.Scope) Answer {
	return s.offer(payload, from, false)
}

// offer is Offer, or the start of a Submit.
func (s *Source) offer(payload any, from *limit.Scope, submit bool) Answer {
	e := s.engine
	e.mu.Lock()
	if s.refusesLocked(from) {
		e.mu.Unlock()
		return Over
	}
	w, ok := s.acceptLocked(payload, submit)
	if !ok {
		s.refusedLocked(submit)
		e.mu.Unlock()
		return Full
	}
	e.unlock(w)
	s.submitted(false)
	return Accepted
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

// refusedLocked counts a task that found no room, unless a submitter waits next.
func (s *Source) refusedLocked(submit bool) {
	if submit || s.Helpers {
		return
	}
	s.engine.refused++
	s.engine.lim.Refused()
}

// Submit submits a task and waits for room for it, until done is closed. from is the
// scope of the calling task, or the source's. Its permits may be used meanwhile.
func (s *Source) Submit(done <-chan struct{}, payload any, from *limit.Scope) Answer {
	if a := s.offer(payload, from, true); a != Full {
		return a
	}
	a := s.submit(done, payload, from)
	s.submitted(true)
	return a
}

// submit is Submit when there is no room at once.
func (s *Source) submit(done <-chan struct{}, payload any, from *limit.Scope) Answer {
	b := &submitter{source: s, payload: payload, answer: make(chan Answer, 1)}
	wake := make(chan struct{}, 1)
	l := s.newLoan(from, func() {
		select {
		case wake <- struct{}{}:
		default: // woken already
		}
	})
	call := s.Parent // whose task waits for the source
	if from != s.Parent && !s.Parent.Belongs(from) {
		call = from.Call(nil, false)
	}
	call.Lend()
	defer call.Reclaim()
	if !s.block(b, from) {
		return Over
	}
	a := s.answer(done, wake, b, l)
	s.engine.mu.Lock()
	for !l.endLocked() {
		s.engine.mu.Unlock()
		<-wake
		s.engine.mu.Lock()
	}
	s.engine.mu.Unlock()
	return a
}

// answer waits for the answer to b, and lends the permit of l meanwhile.
func (s *Source) answer(done, wake <-chan struct{}, b *submitter, l *loan) Answer {
	var late <-chan time.Time
	if s.room.long() {
		timer := time.NewTimer(maxBatchWait)
		defer timer.Stop()
		late = timer.C
	}
	for {
		s.engine.mu.Lock()
		s.engine.unlock(l.lendLocked())
		select {
		case a := <-b.answer:
			return a
		case <-wake:
		case <-late:
			s.hurry(b)
		case <-done:
			if s.unblock(b) {
				return GaveUp
			}
			return <-b.answer
		}
	}
}

// hurry lets b and the submitters before it be admitted one by one: they have waited for
// maxBatchWait.
func (s *Source) hurry(b *submitter) {
	e := s.engine
	e.mu.Lock()
	if b.node.InList() {
		s.room.late = max(s.room.late, b.turn+1)
		e.shutRoomLocked(s.room)
		s.room.admit(e)
		s.openSegmentLocked()
	}
	e.unlock(e.wakeOneLocked())
}

// block adds b to the waiting submitters, unless the source takes no more tasks.
func (s *Source) block(b *submitter, from *limit.Scope) bool {
	e := s.engine
	e.mu.Lock()
	if s.refusesLocked(from) {
		e.mu.Unlock()
		return false
	}
	b.join()
	e.makeReadyLocked(s)
	e.shutRoomLocked(s.room)
	s.room.admit(e) // there may be room since Offer looked
	s.openSegmentLocked()
	e.unlock(e.wakeOneLocked())
	return true
}

// unblock removes b from the waiting submitters. It reports false if b is not one of
// them: then it has its answer.
func (s *Source) unblock(b *submitter) bool {
	s.engine.mu.Lock()
	defer s.engine.mu.Unlock()
	if !b.leave() {
		return false
	}
	s.engine.unreadyIfEmptyLocked(s)
	s.settleLocked()
	return true
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
	var l *loan
	if s.Parent != nil {
		l = s.newLoan(s.Parent, s.wakeWaitersLocked)
	}
	s.engine.mu.Lock()
	defer s.engine.mu.Unlock()
	if l != nil {
		s.lenders++
		defer func() { s.lenders-- }()
	}
	s.awaitLocked(condition, l)
	for !l.endLocked() {
		s.changed.Wait()
	}
}

// awaitLocked waits until condition holds, and lends l. It unlocks engine.mu meanwhile.
func (s *Source) awaitLocked(condition func() bool, l *loan) {
	e := s.engine
	s.waiting.Add(1)
	defer s.waiting.Add(-1)
	for {
		wakes := s.wakes
		e.mu.Unlock()
		ok := condition()
		e.mu.Lock()
		if ok {
			return
		}
		for wakes == s.wakes {
			if w := l.lendLocked(); w != nil {
				e.unlock(w)
				e.mu.Lock()
			} else {
				s.changed.Wait()
			}
		}
	}
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

// Running returns how many tasks run.
func (s *Source) Running() int {
	s.engine.mu.Lock()
	defer s.engine.mu.Unlock()
	return s.running
}

// NotifyAtEnd is Notify by a task of s that is about to end. In programs built with -race its
// worker does it when the task has ended, since the lock of the engine would order tasks.
func (s *Source) NotifyAtEnd() {
	if !race.Sharp {
		s.Notify()
	}
}

// Accepted returns how many tasks were accepted.
func (s *Source) Accepted() int {
	s.engine.mu.Lock()
	defer s.engine.mu.Unlock()
	return s.accepted
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
	s.countLocked(s.queue.shut)
	s.front.Store(nil)
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
	e.shutRoomLocked(s.room)
	s.room.admit(e) // submitters of other sources
	e.tellAdmittedLocked()
	e.unreadyIfEmptyLocked(s)
	s.settleLocked()
}

// Refuses reports whether Offer would answer Over. from is the scope of the calling task.
func (s *Source) Refuses(from *limit.Scope) bool {
	s.engine.mu.Lock()
	defer s.engine.mu.Unlock()
	return s.refusesLocked(from)
}

// refusesLocked reports whether the source takes no task; from is the submitter's scope. A
// closed engine must take what its tasks start, to run what it has accepted, unless it
// drops everything or no task is left.
func (s *Source) refusesLocked(from *limit.Scope) bool {
	e := s.engine
	if s.ended || s.Context.Err() != nil {
		return true
	}
	return e.closed && s.refusesClosedLocked(from)
}

// refusesClosedLocked is refuses for a closed engine.
func (s *Source) refusesClosedLocked(from *limit.Scope) bool {
	e := s.engine
	if s.Helpers && s.accepted > 0 {
		return false
	}
	slot, _ := from.On(e.lim)
	return slot == nil || e.abandoning || e.running == 0
}

// hasWorkLocked reports whether a worker would find something to do.
func (s *Source) hasWorkLocked() bool { return s.queue.n+s.blocked.Len() > 0 }

// short reports whether the limiter's controller is not told that tasks of s wait.
func (s *Source) short() bool { return s.batches != nil && s.batches.Short() }

// lasts reports whether s ends with its engine.
func (s *Source) lasts() bool { return s == s.engine.lasting }

// refuseAllLocked tells the waiting submitters that the source has ended.
func (s *Source) refuseAllLocked() {
	for s.blocked.Len() > 0 {
		b := s.blocked.First().Value()
		b.leave()
		b.answer <- Over
	}
}

// enqueueLocked appends a task to the queue.
func (s *Source) enqueueLocked(payload any) {
	e := s.engine
	s.queue.push(payload, s.accepted, s.segmentSize)
	s.accepted++
	e.queued++
	s.room.queued++
	if !s.ready.InList() {
		e.makeReadyLocked(s)
	}
	if s.lenders > 0 {
		s.wakeWaitersLocked() // one of them may have a permit for it
	}
}

// acceptLocked accepts a task that finds room at once, and returns the worker to be started for it,
// or nil. A Submit can wait instead: it takes no permit for the task if the queue is long, since
// workers are coming and make room, or if one more worker needs a free CPU.
func (s *Source) acceptLocked(payload any, submit bool) (w *worker, ok bool) {
	e, r := s.engine, s.room
	switch {
	case r.blocked.Len() > 0: // behind those that came before
		return nil, false
	case r.size == 0 && !submit:
		if !e.lim.TryAcquire() {
			return nil, false
		}
		w = e.pickLocked(nil)
		s.assignLocked(w, payload)
		return w, true
	case r.queued < r.size, r.hasSlot(e):
		s.enqueueLocked(payload)
		return e.wakeOneLocked(), true
	case submit && (r.long() || e.lim.NeedController().Crowded()), !e.lim.TryAcquire():
		return nil, false
	}
	s.enqueueLocked(payload)
	return e.pickLocked(nil), true
}

// assignLocked gives a task to w, which was picked for it and runs it first. It counts as
// running: the end of the source does not drop it.
func (s *Source) assignLocked(w *worker, payload any) {
	e := s.engine
	w.given = &given{Task{payload, s.accepted}, s}
	w.orderLocked(s)
	w.arriving = false // it is on its way to no queue
	e.arriving--
	s.accepted++
	s.running++
	e.running++
	e.started++
	if s.Shared {
		e.activateLocked(s)
	}
}

// countLocked calls f, which takes tasks from the queue, and counts them.
func (s *Source) countLocked(f func()) {
	n := s.queue.n
	f()
	n -= s.queue.n
	s.engine.queued -= n
	s.room.queued -= n
	s.engine.started += uint64(n)
}

// takeLocked removes the next task from the queue. It reports false if the last one was claimed
// meanwhile.
func (s *Source) takeLocked() (t Task, ok bool) {
	if s.queue.n == 0 && s.blocked.Len() > 0 {
		s.blocked.First().Value().admit()
	}
	s.countLocked(func() { t, ok = s.queue.pop() })
	if ok {
		s.running++
		s.engine.running++
	}
	s.proceedLocked()
	return t, ok
}

// proceedLocked is called after tasks were taken: it admits submitters and rotates the sources.
func (s *Source) proceedLocked() {
	s.room.admit(s.engine)
	s.engine.rotateLocked(s)
	s.openSegmentLocked()
}

// openSegmentLocked lets the next tasks be claimed without the lock, if no other source
// waits for its turn: at most as many as submitters wait for.
func (s *Source) openSegmentLocked() {
	e, r := s.engine, s.room
	if race.Sharp || s.Helpers || !r.long() || !e.ready.only(s) {
		return
	}
	n := maxSegment
	if r.blocked.Len() > 0 {
		n = r.waiters(e) - r.size + r.batch() // then they are let in
	}
	if g := s.queue.openUpTo(n); g != nil {
		s.front.Store(g)
		e.open = s
	}
}

// refillLocked is called after the last open task was claimed.
func (s *Source) refillLocked() {
	s.countLocked(s.queue.shut)
	s.proceedLocked()
}

// isIdleLocked reports whether nothing is queued, running or being submitted.
func (s *Source) isIdleLocked() bool { return s.queue.n+s.running+s.blocked.Len() == 0 }

// wakeWaitersLocked makes the waiting goroutines check their condition.
func (s *Source) wakeWaitersLocked() {
	s.wakes++
	s.changed.Broadcast()
}

// settleLocked is called after every change that a goroutine may wait for.
func (s *Source) settleLocked() {
	idle := s.isIdleLocked()
	if idle {
		s.queue.trim()
	}
	if s.waiting.Load() > 0 && (s.ended || idle) {
		s.wakeWaitersLocked()
	}
	if s.Shared && idle {
		delete(s.engine.active, s)
	}
	s.engine.settleLocked()
}
