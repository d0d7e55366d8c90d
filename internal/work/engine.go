// Package work runs open-ended work: tasks that are submitted one by one, from
// any number of sources, on workers that are reused. See README.md for the
// states and the races.
package work

import (
	"context"
	"fmt"
	"maps"
	"runtime"
	"runtime/trace"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/stint-go/stint/internal/limit"
	"github.com/stint-go/stint/internal/line"
	"github.com/stint-go/stint/internal/task"
)

// An Engine owns workers and serves its sources in turn. A worker holds its
// permit from task to task and parks without one. Use NewEngine.
type Engine struct {
	lim    *limit.Limiter
	expiry time.Duration
	name   string
	labels context.Context // its pprof labels are the workers'; nil leaves them alone
	epoch  time.Time

	lined atomic.Int32 // shared sources in ready; written with mu held

	mu       sync.Mutex
	ready    line.Line[*Source]   // with a queued task or a waiting submitter, served in turn
	active   map[*Source]struct{} // with anything pending
	all      line.Line[*worker]   // the workers
	idle     []*worker            // parked, the longest first; the last is woken first
	timer    *time.Timer          // ends idle workers
	armed    bool
	waking   bool         // a worker is on its way to the queue; it wakes the next
	waiter   limit.Waiter // of the engine; in line while awaiting
	awaiting bool
	draining bool // workers that find nothing leave
	closed   bool
	cut      bool            // Abandon has been called
	quiet    []chan struct{} // closed when nothing is queued or running

	arriving int // workers with a permit on their way to the queue, visits apart

	running, queued, blocked, abandoned int
	completed, dropped                  uint64
}

// Config is what an Engine needs to know.
type Config struct {
	Limiter *limit.Limiter
	Expiry  time.Duration   // how long a worker stays without work
	Name    string          // of the regions in execution traces; "" makes none
	Labels  context.Context // the workers' pprof labels; nil: those of their starter
}

// NewEngine returns an Engine that has no worker yet.
func NewEngine(c Config) *Engine {
	e := &Engine{lim: c.Limiter, expiry: c.Expiry, name: c.Name, labels: c.Labels, epoch: time.Now()}
	e.waiter.Grant = e.granted
	return e
}

// NewSource returns a queue of e.
func (e *Engine) NewSource(c SourceConfig) *Source {
	s := &Source{engine: e, SourceConfig: c}
	s.settled.L = &e.mu
	return s
}

// Limiter returns the limiter that bounds e.
func (e *Engine) Limiter() *limit.Limiter { return e.lim }

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
	return Counts{
		Running: e.running, Queued: e.queued, Blocked: e.blocked,
		Workers: e.all.Len(), Idle: len(e.idle),
		Completed: e.completed, Dropped: e.dropped,
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
	_, frame, found := strings.Cut(string(trace[:n]), "/internal/work.(*worker).main(")
	if !found {
		return false
	}
	receiver, _, _ := strings.Cut(frame, ")")
	e.mu.Lock()
	defer e.mu.Unlock()
	for p := e.all.First(); p != nil; p = p.Next() {
		if fmt.Sprintf("%p", p.Of()) == receiver {
			return true
		}
	}
	return false
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

// Quiet waits until nothing is queued or running, and no worker is left of a
// draining engine. It reports false when done was closed first.
func (e *Engine) Quiet(done <-chan struct{}) bool {
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
	w := e.pick(nil)
	e.mu.Unlock()
	w.start()
}

// expire ends the workers that have been parked for the expiry, and sets the
// timer for the next.
func (e *Engine) expire() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.armed = false
	now := time.Since(e.epoch)
	n := 0
	for n < len(e.idle) && e.idle[n].parked+e.expiry <= now {
		n++
	}
	e.dismiss(n)
	e.arm(now)
	e.settle()
}

// run executes one task and tells its source how it ended, if not with nil.
func (e *Engine) run(ctx context.Context, s *Source, t Task) {
	returned := false
	defer func() {
		if !returned {
			s.Job.Failed(t, task.Unreturned(recover()))
		}
	}()
	err := e.traced(ctx, s, t)
	returned = true
	if err != nil {
		s.Job.Failed(t, task.Outcome{Err: err})
	}
}

func (e *Engine) traced(ctx context.Context, s *Source, t Task) error {
	if e.name != "" && trace.IsEnabled() {
		defer trace.StartRegion(ctx, e.name).End()
	}
	return s.Job.Run(ctx, t)
}

// The functions below are called with mu held.

// rouse sends one worker to the queue, unless one is on its way already or
// nothing is queued. The caller starts it after unlocking. Without a free permit
// the engine stands in line for one.
func (e *Engine) rouse() *worker {
	if e.waking || e.awaiting || e.ready.Len() == 0 {
		return nil
	}
	if !e.lim.Join(&e.waiter, nil) {
		e.awaiting = true
		return nil
	}
	e.waking = true
	return e.pick(nil)
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

// pick returns the worker that parked last, or a new one. It has a permit: of the
// limiter, or that of v, for the tasks of one source.
func (e *Engine) pick(v *visitor) *worker {
	w := (*worker)(nil)
	if n := len(e.idle); n > 0 {
		w = e.idle[n-1]
		e.idle[n-1] = nil
		e.idle = e.idle[:n-1]
	} else {
		w = &worker{engine: e, slot: limit.NewSlot(e.lim, limit.Permit{})}
		e.all.Push(&w.place, w)
	}
	if v != nil {
		w.visit = v
		w.slot = limit.NewSlot(e.lim, v.waiter.Permit)
	}
	w.permit, w.arriving = true, true
	w.since, w.turns = time.Since(e.epoch), 0
	if v != nil {
		v.source.arriving++
	} else {
		e.arriving++
	}
	return w
}

// dismiss ends the n workers that have been parked longest.
func (e *Engine) dismiss(n int) {
	for _, w := range e.idle[:n] {
		w.leaving = true
		w.wake <- struct{}{} // cap 1, and a parked worker has been sent nothing
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
	wait := e.idle[0].parked + e.expiry - now
	if e.timer == nil {
		e.timer = time.AfterFunc(wait, e.expire)
	} else {
		e.timer.Reset(wait)
	}
}

// left counts a worker out. The last one of an engine that drains stops the timer.
func (e *Engine) left(w *worker) {
	w.place.Leave()
	if e.all.Len() == 0 && e.armed && e.timer.Stop() {
		e.armed = false // otherwise expire is about to run
	}
	e.settle()
}

func (e *Engine) enqueue(s *Source, t Task) {
	t.Index = s.taken
	s.taken++
	s.queue.push(t)
	e.queued++
	e.line(s)
	if s.visitors > 0 {
		s.settled.Broadcast() // one of them may have a permit for it
	}
}

// finish counts a task of s as ended.
func (e *Engine) finish(s *Source) {
	e.running--
	s.running--
	if !s.Own {
		e.completed++
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
	return e.queued == 0 && e.running == 0 && (!e.draining || e.all.Len() == 0 && !e.armed)
}

// line puts s at the end of the ready sources, unless it stands there.
func (e *Engine) line(s *Source) {
	if s.ready.Taken() {
		return
	}
	e.ready.Push(&s.ready, s)
	if s.Shared {
		e.lined.Add(1)
		if e.active == nil {
			e.active = make(map[*Source]struct{})
		}
		e.active[s] = struct{}{}
	}
}

// turn moves s, which has had its turn, to the end or out of the ready sources.
func (e *Engine) turn(s *Source) {
	if s.queue.n+s.blocked.Len() == 0 {
		e.unlineIfEmpty(s)
	} else if e.ready.Len() > 1 {
		s.ready.Leave()
		e.ready.Push(&s.ready, s)
	}
}

func (e *Engine) unlineIfEmpty(s *Source) {
	if s.ready.Taken() && s.queue.n+s.blocked.Len() == 0 {
		s.ready.Leave()
		e.unwait()
		if s.Shared {
			e.lined.Add(-1)
		}
	}
}
