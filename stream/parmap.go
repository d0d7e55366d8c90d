package stream

import (
	"context"
	"math"
	"reflect"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/internal/auto"
	"github.com/stint-go/stint/internal/lane"
	"github.com/stint-go/stint/internal/limit"
	"github.com/stint-go/stint/internal/option"
)

const parMapOptions = option.Limiter | option.Pool | option.Queue | option.Unordered | option.Name | option.LowPriority

// ParMap calls f for the records of s concurrently. It returns the results in the order of
// the records, or under Unordered as they arrive. A Limiter or a Pool bounds the number of
// calls; without one the limit is adaptive. If calls take less than 50 µs, a worker takes
// several records at a time. A record is in progress until its result has been passed on.
// At most twice the limit are in progress, or the limit plus n under Queue(n). If calls are
// short there are more: the README has the numbers.
//
// The first error, in the order of the records, ends the stream at its position. Calls for
// earlier records are not cancelled. Calls for later records do not start, and the context
// of running ones ends when the error is passed on. Under Unordered, the first error in time
// ends the stream. A call of runtime.Goexit is stint.ErrGoexit, a closed pool
// stint.ErrClosed. To continue after errors, make them a part of the result.
//
// Options: a Limiter or a Pool, Queue, Unordered, LowPriority, Name.
// ParMap panics if f is nil.
func ParMap[T, R any](s Stream[T], f func(context.Context, T) (R, error), opts ...stint.Option) Stream[R] {
	check("ParMap", "function", f == nil)
	o := option.Collect("stream", "ParMap", parMapOptions, opts)
	return parMapped(s, f, o, nil)
}

// parMapped is ParMap. If newRows is not nil, it makes the rows of each run.
func parMapped[T, R any](s Stream[T], f func(context.Context, T) (R, error), o option.Options, newRows func() lane.Rows[*parTask[T, R]]) Stream[R] {
	return Stream[R]{branches: s.branches, feed: func(c *chain, in *lifetime, to sink[R]) {
		o := o
		o.Inherit(limit.ScopeOf(in.ctx))
		m := newParMap[T](c, in, f, &o)
		if newRows != nil {
			m.rows, m.maxSize = newRows(), 1
		}
		start(m.up, s, m)
		c.during(func() { m.receiveAll(to) }, m.end)
	}}
}

// parMap is a ParMap in one run: the destination of the stages before it, and the runner of
// its tasks. The README has the states of a task.
type parMap[T, R any] struct {
	f         func(context.Context, T) (R, error)
	down, up  *chain    // behind and before
	calls     *lifetime // of the calls of f
	exec      option.Executor
	unordered bool
	queue     int                       // -1: the default
	rows      lane.Rows[*parTask[T, R]] // of ParMapKey, or nil
	pointers  bool
	maxSize   int         // of a task and a batch, in records
	reserve   int64       // records of short calls that may be admitted, at most
	oneByOne  bool        // workers claim records one by one
	canTake   func() bool // mayTake, one allocation a run

	nextIndex uint64           // of the next record; owned by send, like tasks
	tasks     []*parTask[T, R] // room for those of a batch
	taken     *parTask[T, R]   // owned by the consumer, like takenErr
	takenErr  error            // why there are no more after taken

	cost      atomic.Int64  // of a record, in picoseconds; 0: unknown
	last      atomic.Uint64 // index behind which no record is wanted
	abandoned atomic.Bool   // the pool has dropped the queued tasks
	asleep    atomic.Bool   // the consumer

	mu          sync.Mutex
	admitted    int           // records whose results have not been passed on
	vacant      chan struct{} // has a value when the sender should look at the window
	waiting     bool          // the sender, for vacant
	demand      auto.Demand   // of the sender
	watcher     limit.Watcher // for vacant
	freeTasks   []*parTask[T, R]
	freeBatches []*batch[T]
	running     []*parTask[T, R] // of several records

	head, tail *parTask[T, R] // tasks in the order of their records, or of their end under Unordered
	pending    int            // tasks that were cut and not taken
	upEnded    bool           // there will be no more
	upErr      error
}

func newParMap[T, R any](c *chain, in *lifetime, f func(context.Context, T) (R, error), o *option.Options) *parMap[T, R] {
	m := &parMap[T, R]{
		f: f, down: c, calls: newLifetime(in.ctx),
		unordered: o.Unordered, queue: o.Room(-1),
		pointers: hasPointers(reflect.TypeFor[T]()) || hasPointers(reflect.TypeFor[R]()),
		maxSize:  min(batchSize[T](), batchSize[R]()),
		reserve:  reserveBytes / int64(max(1, size[T]()+size[R]())),
		vacant:   make(chan struct{}, 1),
	}
	m.last.Store(math.MaxUint64)
	m.canTake = m.mayTake
	m.up = c.run.chain(m.calls.ctx)                                               // an error ends its lifetime, not that of the calls
	m.exec.Open(m.calls.ctx, limit.Named(m.calls.ctx, o.Name), o, m, math.MaxInt) // the window is the bound
	limiter := m.exec.Engine.Limiter()
	m.oneByOne = m.exec.Engine.Controller() == nil && limiter.Bound() > runtime.GOMAXPROCS(0)
	m.watcher.Wake = m.vacant
	limiter.Watch(&m.watcher)
	c.run.ticker.join(m)
	return m
}

// end stops the stages before and the tasks, and waits for them.
func (m *parMap[T, R]) end() {
	m.exec.Engine.Limiter().Unwatch(&m.watcher)
	m.calls.cancel()
	m.up.stopAndWait()
	m.exec.Source.Stop()
	m.exec.Wait()
	m.exec.Close()
}

// receiveAll passes on the results.
func (m *parMap[T, R]) receiveAll(to sink[R]) {
	for t := m.take(); t != nil; t = m.take() {
		if !pump(m.down, t.out[t.splitOff:t.done], to) {
			return
		}
		err := t.err
		m.recycle(t)
		if err != nil {
			m.down.fail(err)
			return
		}
	}
}

// take waits for the next finished task. It returns nil when there is none, or no more
// records are wanted.
func (m *parMap[T, R]) take() *parTask[T, R] {
	if m.taken == nil {
		m.takeFinished()
	}
	if m.taken == nil {
		m.down.beforeBlocking()
		m.asleep.Store(true)
		m.exec.Source.AwaitLending(m.canTake)
		m.asleep.Store(false)
		m.takeFinished()
	}
	t := m.taken
	switch {
	case t != nil:
		m.taken = t.next
	case m.abandoned.Load():
		m.down.fail(stint.ErrClosed)
	case m.takenErr != nil:
		m.down.fail(m.takenErr)
	}
	return t
}

// mayTake reports whether the consumer can continue without waiting.
func (m *parMap[T, R]) mayTake() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.head != nil && m.head.finished || m.upEnded && m.pending == 0 || m.calls.ctx.Err() != nil || m.abandoned.Load()
}

// takeFinished takes all finished tasks from the head of the list.
func (m *parMap[T, R]) takeFinished() {
	m.mu.Lock()
	defer m.mu.Unlock()
	var tail *parTask[T, R]
	for t := m.head; t != nil && t.finished; t = t.next {
		tail = t
		m.pending--
	}
	if m.upEnded && m.pending == 0 {
		m.takenErr = m.upErr
	}
	if tail == nil {
		return
	}
	m.taken, m.head, tail.next = m.head, tail.next, nil
	if m.head == nil {
		m.tail = nil
	}
}

// insertAll counts tasks, and inserts them into the list after a task. Under Unordered they
// join the list when they are finished. It is called with mu held.
func (m *parMap[T, R]) insertAll(after *parTask[T, R], tasks []*parTask[T, R]) {
	m.pending += len(tasks)
	m.demand.Submit(len(tasks))
	if m.unordered {
		return
	}
	for _, t := range tasks {
		m.insert(after, t)
		after = t
	}
}

// insert inserts t into the list after a task, or at the head if that is nil. It is called
// with mu held.
func (m *parMap[T, R]) insert(after, t *parTask[T, R]) {
	if after == nil {
		t.next, m.head = m.head, t
	} else {
		t.next, after.next = after.next, t
	}
	if t.next == nil {
		m.tail = t
	}
}

// before returns the task before t in the list, or nil; the last under Unordered. It is
// called with mu held.
func (m *parMap[T, R]) before(t *parTask[T, R]) *parTask[T, R] {
	if m.unordered {
		return m.tail
	}
	var before *parTask[T, R]
	for u := m.head; u != t; u = u.next {
		before = u
	}
	return before
}
