package work

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/stint-go/stint/internal/limit"
	"github.com/stint-go/stint/internal/line"
	"github.com/stint-go/stint/internal/task"
)

// A Source is one queue of an Engine: a group's tasks, a loop's helpers, or what
// was given to a pool directly. Sources are served in turn, a task each.
type Source struct {
	engine *Engine
	SourceConfig

	front atomic.Pointer[segment] // that was opened last; its tasks are claimed without the lock

	piecework Piecework // its Job, if it is that
	long      bool      // its queue is counted in quarters rather than in tasks
	quarter   int       // places that must be free before a waiting submitter is let in: a quarter of a long queue, or one
	most      int       // tasks in a segment: a quarter at most
	lasting   bool      // ends with its engine

	// guarded by engine.mu
	queue    queue
	blocked  line.Line[*submitter]
	running  int
	arriving int                 // workers on their way to it alone
	taken    int                 // tasks accepted so far: the number of the next
	fullAt   uint64              // engine.arrivals when the queue was full last
	over     bool                // takes no more tasks
	ready    line.Place[*Source] // in engine.ready
	waiting  int                 // goroutines in Wait
	visitors int                 // those of them that have a permit to lend
	settled  sync.Cond           // tells them
}

// SourceConfig is what a Source needs to know.
type SourceConfig struct {
	Context context.Context // what its tasks are given, with the link of their worker; when it ends, queued tasks are dropped
	Room    int             // queued tasks beyond which a submitter waits
	Job     Job
	Home    *limit.Link // of the call that the source belongs to, if a task made it
	Shared  bool        // one of several sources of its engine
	Own     bool        // its tasks are one piece of work, and submit each other: they do not count as tasks, and a closed engine takes them after the first
}

func (s *Source) init(e *Engine, c SourceConfig) {
	s.engine, s.SourceConfig = e, c
	s.piecework, _ = c.Job.(Piecework)
	s.settled.L = &e.mu
	s.quarter, s.most = min(1, c.Room), lastSegment
	if c.Room >= 64 { // then one wake-up of a submitter serves many tasks
		s.long, s.quarter = true, c.Room/4
		s.most = min(s.quarter, lastSegment)
	}
}

// A Job is what a Source's tasks do.
type Job interface {
	// Run executes one task on the calling goroutine.
	Run(ctx context.Context, t Task) error
	// Failed is told how a task ended that did not return nil, before the task
	// counts as ended. For a panic it runs inside the deferred call.
	Failed(t Task, o task.Outcome)
	// Abandoned is told that the engine dropped what was queued.
	Abandoned()
}

// Piecework is a Job whose tasks are pieces that it makes so large that each takes about
// the same time. While they are of several calls, these are too short to wait for
// anything, and how many pieces end says nothing: no tuner is told that one waits.
type Piecework interface {
	// Brief reports whether they are. It is called with the engine's lock held.
	Brief() bool
}

// Answer says what became of a submitted task.
type Answer int

const (
	Accepted Answer = iota // it will run, unless it is dropped while it is queued
	Full                   // no room now
	Over                   // the source takes no more tasks
	GaveUp                 // the submitter's context ended while it waited
)

// Offer submits f as a task if there is room for it at once: in the queue, or
// because a permit is free that a worker can take it with. Where there is no queue, an
// accepted task is in the hand of a worker, and runs. from is the link of the calling
// task.
func (s *Source) Offer(f any, from *limit.Link) Answer {
	return s.offer(f, from, false)
}

// offer is Offer, or the beginning of a Submit, which can wait when the queue is full:
// it takes no permit for f itself when the queue is long, since workers are on their
// way and make room, nor where one more worker needs a free processor.
func (s *Source) offer(f any, from *limit.Link, submit bool) Answer {
	e := s.engine
	e.mu.Lock()
	if s.refuses(from) {
		e.mu.Unlock()
		return Over
	}
	if s.blocked.Len() > 0 {
		e.mu.Unlock()
		return Full // behind those that came before
	}
	var w *worker
	switch unqueued := s.Room == 0 && !submit; {
	case unqueued && e.lim.TryAcquire():
		w = e.pick(nil)
		s.give(w, f)
	case !unqueued && (s.queue.n < s.Room || s.hasRoom()):
		s.enqueue(f)
		w = e.rouse()
	case !unqueued && !(submit && (s.long || e.crowded())) && e.lim.TryAcquire():
		s.enqueue(f)
		w = e.pick(nil)
	default:
		s.fullAt = e.arrivals
		if !submit && e.tuner != nil && !s.Own {
			e.tuner.Refused() // who submits waits in line next
		}
		e.mu.Unlock()
		return Full
	}
	e.unlock(w)
	return Accepted
}

// Submit submits f as a task and waits for room for it, until done is closed. from
// is the link of the calling task, or that of the source. Its permits may be used
// meanwhile.
func (s *Source) Submit(done <-chan struct{}, f any, from *limit.Link) Answer {
	if a := s.offer(f, from, true); a != Full {
		return a
	}
	return s.submit(done, f, from)
}

// submit is Submit when there is no room at once.
func (s *Source) submit(done <-chan struct{}, f any, from *limit.Link) Answer {
	b := &submitter{task: f, answer: make(chan Answer, 1)}
	wake := make(chan struct{}, 1)
	v := s.newVisitor(from, func() {
		select {
		case wake <- struct{}{}:
		default: // woken already
		}
	})
	call := s.Home // who made the source waits for its tasks
	if from != s.Home && !s.Home.Belongs(from) {
		call = from.Call()
	}
	call.Lend()
	defer call.Reclaim()
	if !s.block(b, from) {
		return Over
	}
	a := s.answer(done, wake, b, v)
	s.engine.mu.Lock()
	for !v.leave() {
		s.engine.mu.Unlock()
		<-wake
		s.engine.mu.Lock()
	}
	s.engine.mu.Unlock()
	return a
}

// answer waits for what becomes of b, and lends the permit of v as long as b waits.
func (s *Source) answer(done, wake <-chan struct{}, b *submitter, v *visitor) Answer {
	for {
		s.engine.mu.Lock()
		s.engine.unlock(v.help())
		select {
		case a := <-b.answer:
			return a
		case <-wake:
		case <-done:
			if s.unblock(b) {
				return GaveUp
			}
			return <-b.answer
		}
	}
}

// block puts b at the end of the waiting submitters, unless the source is over.
func (s *Source) block(b *submitter, from *limit.Link) bool {
	e := s.engine
	e.mu.Lock()
	if s.refuses(from) {
		e.mu.Unlock()
		return false
	}
	s.blocked.Push(&b.place, b)
	e.blocked++
	e.line(s)
	s.count(s.queue.shut)
	if e.arrivals != s.fullAt { // since it was full the last time
		s.fill()
	}
	s.admit() // there may be room since Offer looked
	s.unfold()
	e.unlock(e.rouse())
	return true
}

// unblock takes b out of the line. It reports false when b is in none: it has
// its answer.
func (s *Source) unblock(b *submitter) bool {
	s.engine.mu.Lock()
	defer s.engine.mu.Unlock()
	if !b.place.Taken() {
		return false
	}
	b.place.Leave()
	s.engine.blocked--
	s.engine.unlineIfEmpty(s)
	s.settle()
	return true
}

// Wait waits until no task is queued, running or being submitted, and makes the
// source take no more.
func (s *Source) Wait() {
	s.WaitUntil(s.quiet, func() { s.over = true })
}

// WaitUntil waits until condition holds, then calls then. Both are called with
// the engine's lock held, condition whenever the source may have changed. The
// permits of the task that made the source may be used meanwhile.
func (s *Source) WaitUntil(condition func() bool, then func()) {
	e := s.engine
	s.Home.Lend()
	defer s.Home.Reclaim()
	var v *visitor
	if s.Home != nil {
		v = s.newVisitor(s.Home, s.settled.Broadcast)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	s.awaited(v, +1)
	defer s.awaited(v, -1)
	for !condition() {
		if w := v.help(); w != nil {
			e.unlock(w)
			e.mu.Lock()
			continue
		}
		s.settled.Wait()
	}
	then()
	for !v.leave() {
		s.settled.Wait()
	}
}

// awaited counts a goroutine that waits for the source, with a permit to lend or not.
func (s *Source) awaited(v *visitor, n int) {
	s.waiting += n
	if v != nil {
		s.visitors += n
	}
}

// Accepted returns how many tasks were accepted.
func (s *Source) Accepted() int {
	s.engine.mu.Lock()
	defer s.engine.mu.Unlock()
	return s.taken
}

// Update calls f with the engine's lock held and wakes those in Await and
// WaitUntil.
func (s *Source) Update(f func()) {
	s.engine.mu.Lock()
	defer s.engine.mu.Unlock()
	f()
	s.settled.Broadcast()
}

// Await waits until condition holds, which is called as in WaitUntil, and lends
// nothing meanwhile.
func (s *Source) Await(condition func() bool) {
	s.engine.mu.Lock()
	defer s.engine.mu.Unlock()
	s.waiting++
	for !condition() {
		s.settled.Wait()
	}
	s.waiting--
}

// Stop drops the queued tasks, refuses the waiting submitters and makes the
// source take no more. Running tasks go on.
func (s *Source) Stop() {
	s.engine.mu.Lock()
	defer s.engine.mu.Unlock()
	s.stop()
}

// The functions below are called with engine.mu held.

func (s *Source) stop() {
	s.over = true
	e := s.engine
	s.count(s.queue.shut)
	s.front.Store(nil)
	n := s.queue.clear()
	e.queued -= n
	if !s.Own {
		e.dropped += uint64(n)
		if e.cut {
			e.abandoned += n
		}
	}
	s.refuse()
	e.unlineIfEmpty(s)
	s.settle()
}

// refuses reports whether the source takes no more tasks of a submitter with the
// link from. A closed engine has accepted what its tasks start: to run what it has
// accepted it must take that too, unless it drops everything or none is left.
func (s *Source) refuses(from *limit.Link) bool {
	e := s.engine
	if s.over || s.Context.Err() != nil {
		return true
	}
	return e.closed && s.refusesClosed(from)
}

// refusesClosed is refuses for a closed engine.
func (s *Source) refusesClosed(from *limit.Link) bool {
	e := s.engine
	if s.Own && s.taken > 0 {
		return false
	}
	slot, _ := from.On(e.lim)
	return slot == nil || e.cut || e.running == 0
}

// hasWork reports whether a worker would find something to do.
func (s *Source) hasWork() bool { return s.queue.n+s.blocked.Len() > 0 }

// waiters returns how many queued tasks wait for a worker. The others have one on
// its way: without this difference a burst would find less room than there is.
func (s *Source) waiters() int {
	n := s.queue.n - s.arriving
	if s.ready.Taken() && s.engine.ready.Len() == 1 { // all that arrive come for s
		n -= s.engine.arriving
	}
	return n
}

// refuse tells the waiting submitters that the source is over.
func (s *Source) refuse() {
	for s.blocked.Len() > 0 {
		b := s.blocked.First().Of()
		b.place.Leave()
		s.engine.blocked--
		b.answer <- Over
	}
}

// enqueue puts a task at the end of the queue.
func (s *Source) enqueue(f any) {
	e := s.engine
	s.queue.push(f, s.taken, s.most)
	s.taken++
	e.queued++
	if !s.ready.Taken() {
		e.line(s)
	}
	if s.visitors > 0 {
		s.settled.Broadcast() // one of them may have a permit for it
	}
}

// give puts a task in the hand of w, which was picked for it and runs it before it looks
// for others. It counts as running: what ends the source does not drop it.
func (s *Source) give(w *worker, f any) {
	e := s.engine
	w.given, w.givenBy = Task{f, s.taken}, s
	w.arriving = false // it is on its way to no queue
	e.arriving--
	s.taken++
	s.running++
	e.running++
	e.started++
	if s.Shared {
		e.activate(s)
	}
}

// hasRoom reports whether one more task may be queued, when that is not plain.
func (s *Source) hasRoom() bool {
	s.engine.account() // not before: the claims are on another processor
	return s.waiters() < s.Room
}

// count calls f, which gives out tasks, and counts them.
func (s *Source) count(f func()) {
	n := s.queue.n
	f()
	n -= s.queue.n
	s.engine.queued -= n
	s.engine.started += uint64(n)
}

// take gives out the next task. It reports false if the last one was claimed
// meanwhile.
func (s *Source) take() (t Task, ok bool) {
	if s.queue.n == 0 && s.blocked.Len() > 0 {
		s.admitFirst()
	}
	s.count(func() { t, ok = s.queue.pop() })
	if ok {
		s.running++
		s.engine.running++
	}
	s.proceed()
	return t, ok
}

// proceed follows when tasks were given out: it lets submitters in behind them and
// makes way for the next source.
func (s *Source) proceed() {
	s.admit()
	s.engine.turn(s)
	s.unfold()
}

// unfold has the tasks that come next claimed without the lock, if no other source
// waits for its turn.
func (s *Source) unfold() {
	e := s.engine
	if s.Own || !s.long || e.ready.Len() > 1 {
		return
	}
	n := lastSegment
	if s.blocked.Len() > 0 {
		n = s.waiters() - s.Room + s.quarter // then they are let in
	}
	if g := s.queue.opened(n); g != nil {
		s.front.Store(g)
		e.open = s
	}
}

// refill follows the claim of the last open task.
func (s *Source) refill() {
	s.count(s.queue.shut)
	s.proceed()
}

// admit moves waiting submitters' tasks into the queue once enough of it is free.
func (s *Source) admit() {
	if s.blocked.Len() == 0 || s.Room == 0 || s.waiters() > s.Room-s.quarter {
		return
	}
	s.fill()
}

// fill lets submitters in until the queue is full.
func (s *Source) fill() {
	for s.blocked.Len() > 0 && s.waiters() < s.Room {
		s.admitFirst()
	}
}

func (s *Source) admitFirst() {
	e := s.engine
	b := s.blocked.First().Of()
	b.place.Leave()
	e.blocked--
	s.enqueue(b.task)
	b.next = nil
	last := &e.told
	for *last != nil {
		last = &(*last).next
	}
	*last = b
}

// quiet reports whether nothing is queued, running or being submitted.
func (s *Source) quiet() bool { return s.queue.n+s.running+s.blocked.Len() == 0 }

// settle follows every change that somebody may wait for.
func (s *Source) settle() {
	quiet := s.quiet()
	if quiet {
		s.queue.trim()
	}
	if s.waiting > 0 && (s.over || quiet) {
		s.settled.Broadcast()
	}
	if s.Shared && quiet {
		delete(s.engine.active, s)
	}
	s.engine.settle()
}

// submitter is a goroutine that waits for room.
type submitter struct {
	task   any
	answer chan Answer // cap 1: the engine never waits for a submitter
	place  line.Place[*submitter]
	next   *submitter // in engine.told
}
