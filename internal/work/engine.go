// Package work runs open-ended work: tasks that are submitted one by one, from
// any number of sources, on workers that are reused. See README.md for the
// states and the races.
package work

import (
	"cmp"
	"context"
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
	lim *limit.Limiter
	settings
	lasting *Source // its first, which ends with it

	mu     sync.Mutex         // guards the rest
	ready  readySources       // with a queued task or a waiting submitter
	active fifo.List[*Source] // with anything pending
	spare  *submitter         // to be used again, or nil
	entry  entry
	workerSet
	numbers
	ending
}

// settings are what an engine was made with.
type settings struct {
	ownsLimiter bool // the search of the limiter ends with the engine
	idleTimeout time.Duration
	name        string
	labels      context.Context // has the pprof labels of the workers; nil leaves them alone
}

// A workerSet is the workers of an engine.
type workerSet struct {
	workers int
	idle    []*worker // parked, the longest first; the last is woken first
	timer   *idleTimer
	armed   bool // the timer
	waits   int  // how often a worker has waited for a CPU in vain
}

// numbers are those of the tasks; of an open queue, when it was shut last. Helpers are counted in
// started when they end.
type numbers struct {
	running, queued, blocked  int
	started, dropped, refused uint64
	abandoned                 int           // of those dropped
	failed                    atomic.Uint64 // written without mu
}

// ending is how far an engine is from its end.
type ending struct {
	draining    bool // workers that find nothing leave
	closed      bool
	abandoning  bool          // Abandon has been called
	idleWaiters chan struct{} // closed when the engine is idle; nil: nobody waits
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

// New returns an Engine without workers, and a source that lasts as long as the engine.
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
	e.entry.engine = e
	e.entry.waiter.Grant, e.entry.waiter.Nested = e.entry.granted, c.Nested
	e.lasting = e.NewSource(sc)
	return e, e.lasting
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
	Abandoned                               int // of those dropped
}

// Counts returns the state of e.
func (e *Engine) Counts() Counts {
	defer e.lim.Order.Acquire(0) // for the tasks that the caller sees completed
	e.mu.Lock()
	defer e.mu.Unlock()
	e.shutLocked()
	completed := e.started - uint64(e.running) // a task that has failed may still be running
	return Counts{
		Running: e.running, Queued: e.queued, Blocked: e.blocked,
		Workers: e.workers, Idle: len(e.idle),
		Completed: completed, Failed: min(e.failed.Load(), completed), Refused: e.refused,
		Dropped: e.dropped, Abandoned: e.abandoned,
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
	case low && e.ready.normal.size.Load() > 0:
		return limit.Urgent
	case e.ready.of(low).size.Load() > 1: // the task's own source is one
		return max(p, limit.Contended)
	}
	return p
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
	for n := e.active.First(); n != nil; {
		s := n.Value()
		n = n.Next() // before s may leave
		if !s.Finite {
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
	var active []*Source
	for n := e.active.First(); n != nil; n = n.Next() {
		active = append(active, n.Value())
	}
	e.mu.Unlock()
	for _, s := range active {
		s.Runner.Abandoned() // first: nobody must take the end for success
		s.Stop()
	}
}

// WaitIdle waits until nothing is queued, running or being submitted, and no worker is
// left of a draining engine. It reports false if done was closed first.
func (e *Engine) WaitIdle(done <-chan struct{}) bool {
	e.mu.Lock()
	if e.idleWaiters == nil {
		e.idleWaiters = make(chan struct{})
	}
	idle, last := e.idleWaiters, e.ownsLimiter && e.draining
	e.settleLocked()
	e.mu.Unlock()
	select {
	case <-idle:
	case <-done:
		select {
		case <-idle: // both
		default:
			return false
		}
	}
	e.lim.Order.Acquire(0)
	if last {
		e.lim.EndSearch() // without mu: it calls the limiter, which calls the engine
	}
	return true
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

// grantLocked tells w, which may be nil, that it has a permit. It unlocks mu meanwhile.
func (e *Engine) grantLocked(w *limit.Waiter) {
	if w != nil {
		e.mu.Unlock()
		w.Grant()
		e.mu.Lock()
	}
}

// giveLocked gives the first task of s to w, which has a permit and runs it first; p has one too.
// The task counts as running: the end of the source does not drop it.
func (e *Engine) giveLocked(w *worker, s *Source, p *pass) {
	w.given = &turn{task: s.takeLocked(), source: s, entered: p.permit()}
	w.orderLocked(s)
}

// pressureLocked returns what the limiter's signs say of the pressure on a worker with a task of
// the given priority, from others than e.
func (e *Engine) pressureLocked(signs limit.Signs, low bool) limit.Pressure {
	own := 0
	if e.entry.awaiting && e.entry.waiter.Low == low {
		own = 1
	}
	return signs.Pressure(low, own)
}

// sendLocked sends the worker that parked last, or a new one, to the queue with the permit of y.
func (e *Engine) sendLocked(y *entry) *worker {
	var w *worker
	if n := len(e.idle); n > 0 {
		w = e.idle[n-1]
		e.idle[n-1] = nil
		e.idle = e.idle[:n-1]
		w.wake.Signal()
	} else {
		w = &worker{engine: e}
		w.wake.L = &e.mu
		w.hold(limit.Permit{})
		e.workers++
		go w.host()
	}
	if y.source != nil {
		w.loan = y
		w.hold(y.waiter.Permit)
	}
	w.permit = true
	w.needsCPU = e.lim.Adaptive() && w.loan == nil
	w.quantum.Start()
	return w
}

// dismissLocked ends the n workers that have been parked longest.
func (e *Engine) dismissLocked(n int) {
	for _, w := range e.idle[:n] {
		w.leaving = true
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
	if e.idleWaiters != nil && e.isIdleLocked() {
		close(e.idleWaiters)
		e.idleWaiters = nil
	}
}

func (e *Engine) isIdleLocked() bool {
	return e.queued == 0 && e.running == 0 && e.blocked == 0 && (!e.draining || e.workers == 0 && !e.armed)
}

// makeReadyLocked puts s at the end of the ready sources, unless it is there already, or waits for
// a permit of its own limiter.
func (e *Engine) makeReadyLocked(s *Source) {
	if s.ready.InList() {
		return
	}
	if !s.active.InList() {
		e.active.Push(&s.active, s)
	}
	if s.pass.isAwaiting() {
		return
	}
	e.shutLocked()
	e.ready.of(s.low).push(s)
	e.entry.reclassifyLocked()
}

// enterLocked reports whether a task of s may start, as far as its own limiter is concerned: p is
// that of the worker. If not, and p is the source's, s is not ready until p has a permit.
func (e *Engine) enterLocked(s *Source, p *pass) bool {
	ok := p.joinLocked()
	if !ok && p == s.pass {
		e.ready.of(s.low).remove(s)
		e.entry.reclassifyLocked()
	}
	return ok
}

// shutLocked ends the claims and counts them. Only the queue of the next source may be open.
func (e *Engine) shutLocked() {
	if s := e.ready.first(); s != nil {
		s.shutLocked()
	}
}

// nextLocked returns the ready source whose turn it is, or nil.
func (e *Engine) nextLocked() *Source {
	s := e.ready.first()
	for s != nil && s.dropIfOverLocked() {
		s = e.ready.first()
	}
	return s
}

// rotateLocked moves s, which has had its turn, to the end or out of the ready sources.
func (e *Engine) rotateLocked(s *Source) {
	e.unreadyIfEmptyLocked(s)
	if l := e.ready.of(s.low); s.ready.InList() && l.Len() > 1 {
		s.ready.Remove()
		l.Push(&s.ready, s)
	}
}

// unreadyIfEmptyLocked takes s out of the ready sources if it has no work.
func (e *Engine) unreadyIfEmptyLocked(s *Source) {
	if s.hasWorkLocked() {
		return
	}
	s.pass.leaveLocked()
	if s.ready.InList() {
		e.ready.of(s.low).remove(s)
		e.entry.reclassifyLocked()
	}
}

// readySources are the sources that have work. They are served in turn, those of low
// priority only when there is no other.
type readySources struct{ normal, low readyList }

// of returns the list of the sources with the given priority.
func (r *readySources) of(low bool) *readyList {
	if low {
		return &r.low
	}
	return &r.normal
}

// first returns the source to be served next, or nil.
func (r *readySources) first() *Source {
	if n := r.normal.First(); n != nil {
		return n.Value()
	}
	if n := r.low.First(); n != nil {
		return n.Value()
	}
	return nil
}

// A readyList has sources of one priority.
type readyList struct {
	fifo.List[*Source]
	size atomic.Int32 // of the list; written with mu held
}

func (l *readyList) push(s *Source) {
	l.Push(&s.ready, s)
	l.size.Add(1)
}

func (l *readyList) remove(s *Source) {
	s.ready.Remove()
	l.size.Add(-1)
}
