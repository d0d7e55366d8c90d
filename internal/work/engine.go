// Package work runs open-ended work: tasks that are submitted one by one, from
// any number of sources, on workers that are reused. See README.md for the
// states and the races.
package work

import (
	"context"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/stint-go/stint/internal/auto"
	"github.com/stint-go/stint/internal/limit"
	"github.com/stint-go/stint/internal/line"
)

// An Engine owns workers and serves its sources in turn. A worker holds its
// permit from task to task and parks without one. Use New.
type Engine struct {
	lim    *limit.Limiter
	tuner  *auto.Controller // of lim; nil: none
	expiry time.Duration
	name   string
	labels context.Context // its pprof labels are the workers'; nil leaves them alone
	epoch  time.Time

	lined atomic.Int32 // shared sources in ready; written with mu held

	mu       sync.Mutex
	ready    line.Line[*Source]   // with a queued task or a waiting submitter, served in turn
	active   map[*Source]struct{} // with anything pending
	open     *Source              // whose tasks are claimed without the lock, if any are
	told     *submitter           // have been let in, and are told after unlocking
	idle     []*worker            // parked, the longest first; the last is woken first
	workers  int
	first    *worker     // not used yet
	timer    *time.Timer // ends idle workers
	armed    bool
	waking   bool         // a worker is on its way to the queue; it wakes the next
	waiter   limit.Waiter // of the engine; in line while awaiting
	awaiting bool
	draining bool // workers that find nothing leave
	closed   bool
	owns     bool            // the tuner ends with the engine
	cut      bool            // Abandon has been called
	quiet    []chan struct{} // closed when the engine is quiet

	waits    int    // how often a worker has waited for a processor in vain
	arriving int    // workers with a permit on their way to the queue, visits apart
	arrivals uint64 // of workers, visits apart

	running            int // workers with a task in hand
	queued             int // as of the last account
	blocked, abandoned int
	started, dropped   uint64 // tasks, but for those of an own source that have ended
}

// Config is what an Engine needs to know.
type Config struct {
	Limiter *limit.Limiter   // nil: one of the engine's own, whose limit is searched for
	Tuner   *auto.Controller // of Limiter, or nil
	Auto    auto.Config      // when Limiter is nil: what the search keeps to
	Expiry  time.Duration    // how long a worker stays without work
	Name    string           // of the regions in execution traces; "" makes none
	Labels  context.Context  // the workers' pprof labels; nil: those of their starter
}

// birth is what an engine that runs a few tasks needs, in one allocation. What the
// context of a task leads to is not in it: tasks may keep that.
type birth struct {
	engine  Engine
	source  Source
	worker  worker
	segment segment
	tasks   [firstSegment]any
}

// searched is a limiter of an engine's own, and what searches for its limit. The context
// of a task leads to both.
type searched struct {
	limiter limit.Limiter
	tuner   auto.Controller
}

// New returns an Engine that has no worker yet, and a source that lasts as long.
func New(c Config, sc SourceConfig) (*Engine, *Source) {
	b := new(birth)
	e := &b.engine
	if c.Limiter == nil {
		own := new(searched)
		c.Limiter, c.Tuner = &own.limiter, &own.tuner
		c.Limiter.Init(c.Auto.Start())
		c.Tuner.Init(c.Auto, c.Limiter)
		c.Limiter.Tune(c.Tuner)
		e.owns = true
	}
	e.tuner = c.Tuner
	e.lim, e.expiry, e.name, e.labels = c.Limiter, c.Expiry, c.Name, c.Labels
	e.waiter.Grant = e.granted
	e.first = &b.worker
	s := &b.source
	s.init(e, sc)
	s.lasting = true
	b.segment.tasks = b.tasks[:0]
	s.queue.keep(&b.segment)
	return e, s
}

// NewSource returns one more queue of e.
func (e *Engine) NewSource(c SourceConfig) *Source {
	s := new(Source)
	s.init(e, c)
	return s
}

// Limiter returns the limiter that bounds e.
func (e *Engine) Limiter() *limit.Limiter { return e.lim }

// Tuner returns what changes the limit of e by itself, or nil.
func (e *Engine) Tuner() *auto.Controller { return e.tuner }

// Counts is the state of an engine at one instant. Every task that was accepted
// is in exactly one of Queued, Running, Completed and Dropped.
type Counts struct {
	Running, Queued, Blocked, Workers, Idle int
	Completed, Dropped                      uint64
}

// Counts returns the state of e.
func (e *Engine) Counts() Counts {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.account()
	return Counts{
		Running: e.running, Queued: e.queued, Blocked: e.blocked,
		Workers: e.workers, Idle: len(e.idle),
		Completed: e.started - uint64(e.running), Dropped: e.dropped,
	}
}

// Closed reports whether e refuses tasks.
func (e *Engine) Closed() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.closed
}

// Pressed reports whether a task that could go on without end should let others
// have its worker, which it got at since and has used turns times: more than one
// shared source is ready, or somebody besides the engine waits for a permit; at
// once, if the limit has become smaller. p is the permit that it runs on.
func (e *Engine) Pressed(p limit.Permit, since time.Time, turns int) bool {
	switch {
	case p != (limit.Permit{}): // lent: of no use to anybody else
		return p.Wanted()
	case e.lim.Over():
		return true
	case e.lined.Load() <= 1 && !e.lim.Contended(1):
		return false
	}
	return turns >= limit.Turns || time.Since(since) >= limit.Quantum
}

// Inside reports whether the caller is a task on one of e's workers, as far as its
// stack trace tells: a diagnosis, for calls that have no context to tell it.
func (e *Engine) Inside() bool {
	trace := make([]byte, 4<<10)
	n := runtime.Stack(trace, false)
	for n == len(trace) {
		trace = make([]byte, 2*n)
		n = runtime.Stack(trace, false)
	}
	_, frame, found := strings.Cut(string(trace[:n]), "/internal/work.(*Engine).host(")
	return found && strings.HasPrefix(frame, fmt.Sprintf("%p,", e))
}

// Drain makes workers that find nothing to do leave instead of parking.
func (e *Engine) Drain() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.draining = true
	e.dismiss(len(e.idle))
}

// Close makes e refuse tasks, except from the own tasks of sources that may.
func (e *Engine) Close() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.closed, e.draining = true, true
	for s := range e.active {
		if !s.Own {
			s.refuse()
			e.unlineIfEmpty(s)
			s.settle()
		}
	}
	e.dismiss(len(e.idle))
	e.settle()
}

// Abandon drops everything that is queued, after telling the sources' jobs.
func (e *Engine) Abandon() {
	e.mu.Lock()
	e.cut = true
	active := slices.Collect(maps.Keys(e.active))
	e.mu.Unlock()
	for _, s := range active {
		s.Job.Abandoned() // first: nobody may take the end for success
		s.Stop()
	}
}

// Abandoned returns how many tasks Abandon has dropped.
func (e *Engine) Abandoned() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.abandoned
}

// Quiet waits until nothing is queued, running or being submitted, and no worker is
// left of a draining engine. It reports false when done was closed first.
func (e *Engine) Quiet(done <-chan struct{}) bool {
	if !e.await(done) {
		return false
	}
	e.mu.Lock()
	ended := e.owns && e.draining
	e.mu.Unlock()
	if ended {
		e.tuner.Close() // which calls the limiter with its lock held, and that the engine
	}
	return true
}

// await is Quiet for an engine that goes on.
func (e *Engine) await(done <-chan struct{}) bool {
	e.mu.Lock()
	if e.isQuiet() {
		e.mu.Unlock()
		return true
	}
	c := make(chan struct{})
	e.quiet = append(e.quiet, c)
	e.mu.Unlock()
	select {
	case <-c:
		return true
	case <-done:
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	for i := range e.quiet {
		if e.quiet[i] == c {
			e.quiet = append(e.quiet[:i], e.quiet[i+1:]...)
			return false
		}
	}
	return true
}

// granted is the engine's turn in the limiter's line. A submitter may wait for
// the limit to grow: it is told too.
func (e *Engine) granted() {
	e.mu.Lock()
	e.awaiting = false
	if e.ready.Len() == 0 {
		e.mu.Unlock()
		e.lim.Release(limit.Permit{})
		return
	}
	for p := e.ready.First(); p != nil; p = p.Next() {
		if s := p.Of(); s.waiting > 0 {
			s.settled.Broadcast()
		}
	}
	e.waking = true
	e.unlock(e.pick(nil))
}

// expire ends the workers that have been parked for the expiry, and sets the
// timer for the next.
func (e *Engine) expire() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.armed = false
	now := e.now()
	n := 0
	for n < len(e.idle) && e.idle[n].since+e.expiry <= now {
		n++
	}
	e.dismiss(n)
	e.arm(now)
	e.settle()
}

// unlock unlocks mu, sends w on its way and tells the submitters that have been
// let in. They come last: whoever is made ready last on this processor runs first.
func (e *Engine) unlock(w *worker) {
	if w == nil && e.told == nil {
		e.mu.Unlock()
		return
	}
	e.dispatch(w)
}

func (e *Engine) dispatch(w *worker) {
	told := e.told
	e.told = nil
	e.mu.Unlock()
	w.start()
	for told != nil {
		next := told.next // before it may go on
		told.answer <- Accepted
		told = next
	}
}

// The functions below are called with mu held.

// rouse sends one worker to the queue, unless one is on its way already or
// nothing is queued. The caller starts it after unlocking. Without a free permit
// the engine stands in line for one.
func (e *Engine) rouse() *worker {
	if e.waking || e.awaiting || e.ready.Len() == 0 {
		return nil
	}
	return e.send()
}

func (e *Engine) send() *worker {
	pieces := e.ready.First().Of().piecework
	e.waiter.Quiet = pieces != nil && pieces.Brief()
	if !e.lim.Join(&e.waiter, nil) {
		e.awaiting = true
		return nil
	}
	e.waking = true
	return e.pick(nil)
}

// fill lets submitters in for what the workers have taken that were sent. It is
// called by the last of them, when no further one can be sent: limit and queue are
// full then, and not the queue alone.
func (e *Engine) fill() {
	for p := e.ready.First(); p != nil; p = p.Next() {
		p.Of().fill()
	}
}

// own returns how many of the limiter's waiters are the engine.
func (e *Engine) own() int {
	if e.awaiting {
		return 1
	}
	return 0
}

// unwait takes the engine out of the limiter's line when nothing is queued.
func (e *Engine) unwait() {
	if e.awaiting && e.ready.Len() == 0 && e.lim.Leave(&e.waiter) {
		e.awaiting = false
	}
}

// now returns the time since it was called first.
func (e *Engine) now() time.Duration {
	if e.epoch.IsZero() {
		e.epoch = time.Now()
		return 0
	}
	return time.Since(e.epoch)
}

// pick returns the worker that parked last, or a new one. It has a permit: of the
// limiter, or that of v, for the tasks of one source.
func (e *Engine) pick(v *visitor) *worker {
	w := (*worker)(nil)
	if n := len(e.idle); n > 0 {
		w = e.idle[n-1]
		w.called = true
		e.idle[n-1] = nil
		e.idle = e.idle[:n-1]
	} else {
		w = e.newWorker()
	}
	if v != nil {
		w.visit = v
		w.slot = limit.NewSlot(e.lim, v.waiter.Permit)
	}
	w.permit, w.arriving = true, true
	w.patient = e.tuner != nil && v == nil
	w.since, w.turns = e.now(), 0
	if v != nil {
		v.source.arriving++
	} else {
		e.arriving++
	}
	return w
}

func (e *Engine) newWorker() *worker {
	w := e.first
	e.first = nil
	if w == nil {
		w = new(worker)
	}
	w.engine, w.slot = e, limit.NewSlot(e.lim, limit.Permit{})
	w.wake.L = &e.mu
	e.workers++
	return w
}

// dismiss ends the n workers that have been parked longest.
func (e *Engine) dismiss(n int) {
	for _, w := range e.idle[:n] {
		w.leaving = true
		w.called = true
		w.wake.Signal()
	}
	e.idle = append(e.idle[:0], e.idle[n:]...)
	clear(e.idle[len(e.idle):cap(e.idle)])
}

// arm sets the timer for the worker that has been parked longest.
func (e *Engine) arm(now time.Duration) {
	if e.armed || len(e.idle) == 0 {
		return
	}
	e.armed = true
	wait := e.idle[0].since + e.expiry - now
	if e.timer == nil {
		e.timer = time.AfterFunc(wait, e.expire)
	} else {
		e.timer.Reset(wait)
	}
}

// left counts a worker out. The last one of an engine that drains stops the timer.
func (e *Engine) left() {
	e.workers--
	if e.workers == 0 && e.armed && e.timer.Stop() {
		e.armed = false // otherwise expire is about to run
	}
	e.settle()
}

// account counts the tasks that were claimed without the lock.
func (e *Engine) account() {
	if e.open != nil {
		e.open.count(e.open.queue.account)
	}
}

// shut ends the claims without the lock, if there is a source that they may be
// made on.
func (e *Engine) shut() {
	if e.open != nil {
		e.open.count(e.open.queue.shut)
		e.open = nil
	}
}

// finish counts a task of s as ended.
func (e *Engine) finish(s *Source) {
	e.running--
	s.running--
	if s.Own {
		e.started--
	}
	s.settle()
}

// settle tells those in Quiet. In an engine that drains it ends the workers that
// parked for want of a permit.
func (e *Engine) settle() {
	if e.draining && e.queued == 0 && e.running == 0 {
		e.dismiss(len(e.idle))
	}
	if len(e.quiet) == 0 || !e.isQuiet() {
		return
	}
	for _, c := range e.quiet {
		close(c)
	}
	e.quiet = nil
}

func (e *Engine) isQuiet() bool {
	return e.queued == 0 && e.running == 0 && e.blocked == 0 && (!e.draining || e.workers == 0 && !e.armed)
}

// line puts s at the end of the ready sources, unless it stands there. Sources
// that take turns are served under the lock.
func (e *Engine) line(s *Source) {
	if s.ready.Taken() {
		return
	}
	if e.ready.Len() > 0 {
		e.shut()
	}
	e.ready.Push(&s.ready, s)
	if s.Shared {
		e.lined.Add(1)
		e.activate(s)
	}
}

// activate notes that something is pending in s, until settle finds nothing.
func (e *Engine) activate(s *Source) {
	if e.active == nil {
		e.active = make(map[*Source]struct{})
	}
	e.active[s] = struct{}{}
}

// turn moves s, which has had its turn, to the end or out of the ready sources.
func (e *Engine) turn(s *Source) {
	if !s.hasWork() {
		e.unlineIfEmpty(s)
	} else if e.ready.Len() > 1 {
		s.ready.Leave()
		e.ready.Push(&s.ready, s)
	}
}

func (e *Engine) unlineIfEmpty(s *Source) {
	if s.ready.Taken() && !s.hasWork() {
		if e.open == s {
			e.shut() // nothing is left to claim, and s may be about to end
		}
		s.ready.Leave()
		e.unwait()
		if s.Shared {
			e.lined.Add(-1)
		}
	}
}
