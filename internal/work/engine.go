// Package work runs open-ended work: tasks that are submitted one by one, from
// any number of sources, on workers that are reused. See README.md for the
// states and the races.
package work

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/stint-go/stint/internal/auto"
	"github.com/stint-go/stint/internal/fifo"
	"github.com/stint-go/stint/internal/limit"
)

// An Engine owns workers and serves its sources in turn. A worker holds its permit from
// task to task and parks without one. Use New.
type Engine struct {
	lim         *limit.Limiter
	ownsLimiter bool // the search of lim ends with the engine
	idleTimeout time.Duration
	name        string
	labels      context.Context // has the pprof labels of the workers; nil leaves them alone
	lasting     *Source         // its first, which ends with it

	readyShared atomic.Int32 // shared sources in ready whose priority is not low; written with mu held
	readyLow    atomic.Int32 // shared sources in ready whose priority is low; written with mu held

	mu sync.Mutex // guards the rest
	pending
	workerSet
	entry
	numbers
	ending
}

// pending is what waits for a worker.
type pending struct {
	ready    readySources         // with a queued task or a waiting submitter
	active   map[*Source]struct{} // shared, with anything pending
	open     *Source              // whose tasks are claimed without the lock, or nil
	admitted *submitter           // the last of a ring of submitters to be woken after unlocking, or nil
}

// A workerSet is the workers of an engine.
type workerSet struct {
	workers  int
	idle     []*worker // parked, the longest first; the last is woken first
	timer    *idleTimer
	armed    bool // the timer
	waits    int  // how often a worker has waited for a CPU in vain
	arriving int  // workers on their way to the queue with a permit, not on loan
}

// An entry is how an engine gets its next worker to the queue, one at a time.
type entry struct {
	waiter   limit.Waiter // in the limiter's queue while awaiting
	awaiting bool
	waking   bool // a worker is on its way to the queue; it wakes the next
}

// numbers are those of the tasks. Helpers are counted in started when they end.
type numbers struct {
	running            int // workers with a task
	queued             int // when it was last reconciled
	blocked, abandoned int
	started, dropped   uint64
	refused            uint64
	failed             atomic.Uint64 // written without mu
}

// ending is how far an engine is from its end.
type ending struct {
	draining    bool // workers that find nothing leave
	closed      bool
	abandoning  bool                     // Abandon has been called
	idleWaiters fifo.List[chan struct{}] // closed when the engine is idle
}

// Config configures an Engine.
type Config struct {
	Limiter     *limit.Limiter  // nil: one of the engine's own, with an adaptive limit
	Auto        auto.Config     // of the adaptive limit, when Limiter is nil
	Inherited   bool            // calls without a limit that the tasks make use that limit too
	Nested      bool            // Limiter is inherited
	IdleTimeout time.Duration   // how long a worker stays without work; 0: a second
	Name        string          // of the regions in execution traces; "" for no regions
	Labels      context.Context // has the pprof labels of the workers; nil leaves them alone
}


// New returns an Engine without workers, and a source that lasts as long as the
// engine.
func New(c Config, sc SourceConfig) (*Engine, *Source) {
	e := new(Engine)
	if c.Limiter == nil {
		c.Limiter = new(limit.Limiter)
		c.Limiter.InitAdaptive(c.Auto)
		if c.Inherited {
			c.Limiter.Inherit()
		}
		e.ownsLimiter = true
	}
	e.lim, e.idleTimeout, e.name, e.labels = c.Limiter, cmp.Or(c.IdleTimeout, time.Second), c.Name, c.Labels
	e.waiter.Grant, e.waiter.Nested = e.granted, c.Nested
	e.lasting = new(Source)
	e.lasting.init(e, sc)
	return e, e.lasting
}

// NewSource returns one more source of e.
func (e *Engine) NewSource(c SourceConfig) *Source {
	s := new(Source)
	s.init(e, c)
	return s
}

// Limiter returns the limiter that bounds e.
func (e *Engine) Limiter() *limit.Limiter { return e.lim }

// Low reports whether the source that lasts as long as e has low priority.
func (e *Engine) Low() bool { return e.lasting.low }

// Counts is the state of an engine at one instant. Every accepted task is in exactly
// one of Queued, Running, Completed and Dropped.
type Counts struct {
	Running, Queued, Blocked, Workers, Idle int
	Completed, Failed, Dropped, Refused     uint64
}

// Counts returns the state of e.
func (e *Engine) Counts() Counts {
	defer e.lim.Order.Acquire(0) // for the tasks that the caller sees completed
	e.mu.Lock()
	defer e.mu.Unlock()
	e.reconcileLocked()
	completed := e.started - uint64(e.running) // a task that has failed may still be running
	return Counts{
		Running: e.running, Queued: e.queued, Blocked: e.blocked,
		Workers: e.workers, Idle: len(e.idle),
		Completed: completed, Failed: min(e.failed.Load(), completed), Dropped: e.dropped, Refused: e.refused,
	}
}

// Closed reports whether e refuses tasks.
func (e *Engine) Closed() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.closed
}

// Pressure returns the pressure on a task without an end, such as a helper of a loop, with the
// given priority: from other sources of e, and from waiters outside.
func (e *Engine) Pressure(low bool) limit.Pressure {
	p := e.lim.Pressure(low, 1) // e may be waiting itself
	switch {
	case low && e.readyShared.Load() > 0:
		return limit.Urgent
	case e.readyOf(low).Load() > 1: // the task's own source is one
		return max(p, limit.Contended)
	}
	return p
}

// readyOf counts the ready shared sources with the given priority.
func (e *Engine) readyOf(low bool) *atomic.Int32 {
	if low {
		return &e.readyLow
	}
	return &e.readyShared
}

// Drain makes workers that find nothing to do leave instead of parking.
func (e *Engine) Drain() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.draining = true
	e.dismissLocked(len(e.idle))
}

// Close makes e refuse tasks, except from the own tasks of sources that may.
func (e *Engine) Close() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.closed, e.draining = true, true
	for s := range e.active {
		if !s.Helpers {
			s.refuseAllLocked()
			e.unreadyIfEmptyLocked(s)
			s.settleLocked()
		}
	}
	e.dismissLocked(len(e.idle))
	e.settleLocked()
}

// Abandon drops everything that is queued, after it has told the runners of the
// sources.
func (e *Engine) Abandon() {
	e.mu.Lock()
	e.abandoning = true
	active := slices.Collect(maps.Keys(e.active))
	e.mu.Unlock()
	for _, s := range active {
		s.Runner.Abandoned() // first: nobody must take the end for success
		s.Stop()
	}
}

// Abandoned returns how many tasks Abandon has dropped.
func (e *Engine) Abandoned() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.abandoned
}

// WaitIdle waits until nothing is queued, running or being submitted, and no worker is
// left of a draining engine. It reports false if done was closed first.
func (e *Engine) WaitIdle(done <-chan struct{}) bool {
	if !e.waitIdle(done) {
		return false
	}
	e.lim.Order.Acquire(0)
	e.mu.Lock()
	last := e.ownsLimiter && e.draining
	e.mu.Unlock()
	if last {
		e.lim.EndSearch() // without mu: it calls the limiter, which calls the engine
	}
	return true
}

// waitIdle is WaitIdle without the end of the search.
func (e *Engine) waitIdle(done <-chan struct{}) bool {
	e.mu.Lock()
	if e.isIdleLocked() {
		e.mu.Unlock()
		return true
	}
	var n fifo.Node[chan struct{}]
	c := make(chan struct{})
	e.idleWaiters.Push(&n, c)
	e.mu.Unlock()
	select {
	case <-c:
		return true
	case <-done:
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	waited := n.InList()
	n.Remove()
	return !waited
}

// granted is called when the engine's waiter gets a permit.
func (e *Engine) granted() {
	e.mu.Lock()
	e.awaiting = false
	if e.ready.Len() == 0 {
		e.mu.Unlock()
		e.lim.Release(limit.Permit{})
		return
	}
	e.waking = true
	e.unlock(e.pickLocked(nil))
}

// An idleTimer ends idle workers. The runtime may keep a stopped timer until it is due, and what
// the timer refers to: not the engine.
type idleTimer struct {
	*time.Timer
	engine *Engine // nil when the timer has been stopped
}

// expire ends the workers that were idle for the timeout, and sets the timer for the
// next.
func (e *Engine) expire() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.armed = false
	now := limit.Clock()
	n := 0
	for n < len(e.idle) && now-e.idle[n].parked >= e.idleTimeout {
		n++
	}
	e.dismissLocked(n)
	e.armLocked(now)
	e.settleLocked()
}

// unlock unlocks mu, starts w, which may be nil, and wakes the admitted submitters. They
// come last, because a CPU first runs the goroutine that was made ready last.
func (e *Engine) unlock(w *worker) {
	b := e.admitted
	e.admitted = nil
	e.mu.Unlock()
	w.start()
	b.tellAll()
}

// tellAdmittedLocked wakes the admitted submitters before the engine is unlocked.
func (e *Engine) tellAdmittedLocked() {
	e.admitted.tellAll()
	e.admitted = nil
}

// wakeOneLocked sends one worker to the queue, unless a worker is on its way already or nothing
// is queued. The caller starts the worker after unlocking. Without a free permit the engine
// waits in the limiter's queue.
func (e *Engine) wakeOneLocked() *worker {
	if e.waking || e.awaiting || e.ready.Len() == 0 {
		return nil
	}
	return e.sendWorkerLocked()
}

func (e *Engine) sendWorkerLocked() *worker {
	s := e.ready.first()
	e.waiter.Untracked, e.waiter.Low = s.short(), s.low
	if !e.lim.Join(&e.waiter, nil) {
		e.awaiting = true
		return nil
	}
	e.waking = true
	return e.pickLocked(nil)
}

// ownWaitersLocked returns how many of the limiter's waiters with the given priority are the
// engine.
func (e *Engine) ownWaitersLocked(low bool) int {
	if e.awaiting && e.waiter.Low == low {
		return 1
	}
	return 0
}

// reclassifyLocked gives the engine's entry in the limiter's queue the priority of the source that
// is served next, and takes the entry out when no source is ready.
func (e *Engine) reclassifyLocked() {
	if !e.awaiting {
		return
	}
	s := e.ready.first()
	switch {
	case s == nil:
		if e.lim.Leave(&e.waiter) {
			e.awaiting = false
		}
	case s.low != e.waiter.Low:
		e.lim.Reclassify(&e.waiter, s.low)
		if !s.short() {
			e.lim.Track(&e.waiter)
		}
	}
}

// pickLocked returns the worker that parked last, or a new one. It has a permit: of the
// limiter, or on loan by l, for the tasks of one source.
func (e *Engine) pickLocked(l *loan) *worker {
	w := (*worker)(nil)
	if n := len(e.idle); n > 0 {
		w = e.idle[n-1]
		w.called = true
		e.idle[n-1] = nil
		e.idle = e.idle[:n-1]
	} else {
		w = e.newWorkerLocked()
	}
	if l != nil {
		w.loan = l
		w.slot = limit.NewHeldPermit(e.lim, l.waiter.Permit)
	}
	w.permit, w.arriving = true, true
	w.needsCPU = e.lim.Adaptive() && l == nil
	w.quantum.Start()
	if l == nil {
		e.arriving++
	}
	return w
}

func (e *Engine) newWorkerLocked() *worker {
	w := &worker{engine: e, slot: limit.NewHeldPermit(e.lim, limit.Permit{})}
	w.wake.L = &e.mu
	e.workers++
	return w
}

// dismissLocked ends the n workers that have been parked longest.
func (e *Engine) dismissLocked(n int) {
	for _, w := range e.idle[:n] {
		w.leaving = true
		w.called = true
		w.wake.Signal()
	}
	clear(e.idle[:n])
	if e.idle = e.idle[n:]; len(e.idle) == 0 {
		e.idle = nil
	}
}

// armLocked sets the timer for the worker that has been parked longest.
func (e *Engine) armLocked(now time.Duration) {
	if e.armed || len(e.idle) == 0 {
		return
	}
	e.armed = true
	wait := e.idleTimeout - (now - e.idle[0].parked)
	if e.timer == nil {
		t := new(idleTimer)
		t.Timer = time.AfterFunc(time.Hour, func() { t.engine.expire() })
		e.timer = t
	}
	e.timer.engine = e
	e.timer.Reset(wait)
}

// leftLocked removes a worker from the counts. The last worker of a draining engine stops the
// timer.
func (e *Engine) leftLocked() {
	e.workers--
	if e.workers == 0 && e.armed && e.timer.Stop() { // otherwise expire is about to run
		e.armed, e.timer.engine = false, nil
	}
	e.settleLocked()
}

// reconcileLocked counts the tasks that were claimed without the lock.
func (e *Engine) reconcileLocked() {
	if e.open != nil {
		e.open.countLocked(e.open.queue.reconcile)
	}
}

// shutLocked ends the claims without the lock, if a source is open to them.
func (e *Engine) shutLocked() {
	if e.open != nil {
		e.open.countLocked(e.open.queue.shut)
		e.open = nil
	}
}

// shutRoomLocked ends the claims from r, so that all its tasks are counted.
func (e *Engine) shutRoomLocked(r *room) {
	if e.open != nil && e.open.room == r {
		e.shutLocked()
	}
}

// finishLocked counts a task of s as ended.
func (e *Engine) finishLocked(s *Source) {
	e.running--
	s.running--
	if s.Helpers {
		e.started--
	}
	s.settleLocked()
}

// settleLocked wakes the goroutines that wait for an idle engine. In a draining engine it ends
// the workers that parked because they had no permit.
func (e *Engine) settleLocked() {
	if e.draining && e.queued == 0 && e.running == 0 {
		e.dismissLocked(len(e.idle))
	}
	if e.idleWaiters.Len() == 0 || !e.isIdleLocked() {
		return
	}
	for n := e.idleWaiters.First(); n != nil; n = e.idleWaiters.First() {
		close(n.Value())
		n.Remove()
	}
}

func (e *Engine) isIdleLocked() bool {
	return e.queued == 0 && e.running == 0 && e.blocked == 0 && (!e.draining || e.workers == 0 && !e.armed)
}

// makeReadyLocked puts s at the end of the ready sources, unless it is there already. Sources
// that take turns are served under the lock.
func (e *Engine) makeReadyLocked(s *Source) {
	if s.ready.InList() {
		return
	}
	if e.open != nil && (e.open.low || !s.low) {
		e.shutLocked()
	}
	e.ready.push(s)
	s.room.ready++
	if s.Shared {
		e.readyOf(s.low).Add(1)
		e.activateLocked(s)
	}
	e.reclassifyLocked()
}

// activateLocked records that something is pending in s, until settle finds nothing.
func (e *Engine) activateLocked(s *Source) {
	if e.active == nil {
		e.active = make(map[*Source]struct{})
	}
	e.active[s] = struct{}{}
}

// nextLocked returns the ready source whose turn it is. While workers are on their way for tasks
// of the shared room that exceed its size, they take those.
func (e *Engine) nextLocked() *Source {
	first, shared := e.ready.first(), e.lasting.room
	if first == nil || !shared.overfull() {
		return first
	}
	for p := e.ready.of(first).First(); p != nil; p = p.Next() {
		if s := p.Value(); s.room == shared && s.queue.n > 0 {
			return s
		}
	}
	return first
}

// rotateLocked moves s, which has had its turn, to the end or out of the ready sources.
func (e *Engine) rotateLocked(s *Source) {
	if !s.hasWorkLocked() {
		e.unreadyIfEmptyLocked(s)
	} else if e.ready.of(s).Len() > 1 {
		s.ready.Remove()
		e.ready.push(s)
	}
}

// unreadyIfEmptyLocked takes s out of the ready sources if it has no work.
func (e *Engine) unreadyIfEmptyLocked(s *Source) {
	if s.ready.InList() && !s.hasWorkLocked() {
		if e.open == s {
			e.shutLocked() // nothing is left to claim, and s may be about to end
		}
		s.ready.Remove()
		s.room.ready--
		e.reclassifyLocked()
		if s.Shared {
			e.readyOf(s.low).Add(-1)
		}
	}
}

// readySources are the sources that have work. They are served in turn, those of low
// priority only when there is no other.
type readySources struct {
	normal, low fifo.List[*Source]
}

func (r *readySources) Len() int { return r.normal.Len() + r.low.Len() }

// of returns the list of the sources with the priority of s.
func (r *readySources) of(s *Source) *fifo.List[*Source] {
	if s.low {
		return &r.low
	}
	return &r.normal
}

func (r *readySources) push(s *Source) { r.of(s).Push(&s.ready, s) }

// first returns the source to be served next, or nil.
func (r *readySources) first() *Source {
	n := r.normal.First()
	if n == nil {
		n = r.low.First()
	}
	if n == nil {
		return nil
	}
	return n.Value()
}

// only reports whether no other source is served as long as s has work.
func (r *readySources) only(s *Source) bool {
	return r.of(s).Len() <= 1 && (!s.low || r.normal.Len() == 0)
}
