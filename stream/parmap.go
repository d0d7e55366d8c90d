package stream

import (
	"context"
	"math"
	"slices"
	"sync/atomic"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/internal/lane"
	"github.com/stint-go/stint/internal/limit"
	"github.com/stint-go/stint/internal/option"
	"github.com/stint-go/stint/internal/task"
	"github.com/stint-go/stint/internal/window"
	"github.com/stint-go/stint/internal/work"
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

// parMapped is ParMap. If newRows is not nil, it makes the lanes of each run, and tasks have
// one record.
func parMapped[T, R any](s Stream[T], f func(context.Context, T) (R, error), o option.Options, newRows func() lane.Rows[*window.Task[T, R]]) Stream[R] {
	return Stream[R]{feed: func(c *chain, in *lifetime, to sink[R]) {
		o := o
		o.Inherit(limit.ScopeOf(in.ctx))
		m := newParMap(c, in, &o, window.Config[T, R]{
			Call: f, Unordered: o.Has(option.Unordered), Queue: o.Room(-1),
			MaxSize: min(batchSize[T](), batchSize[R]()), Bytes: size[T]() + size[R](),
		}, newRows)
		start(m.up, s, m)
		c.during(func() { m.receiveAll(to) }, m.end)
	}}
}

// parMap is a ParMap in one run: the destination of the stages before it, and the runner of
// the tasks of its window.
type parMap[T, R any] struct {
	window   window.Window[T, R]
	exec     work.Executor
	down, up *chain    // behind and before
	calls    *lifetime // of the calls of the function

	upErr error                    // ended the records before; written before End of the window
	spare atomic.Pointer[batch[T]] // for acquire, or nil
}

func newParMap[T, R any](c *chain, in *lifetime, o *option.Options, w window.Config[T, R], newRows func() lane.Rows[*window.Task[T, R]]) *parMap[T, R] {
	m := &parMap[T, R]{down: c, calls: newLifetime(in.ctx)}
	m.up = c.run.chain(m.calls.ctx) // an error ends its lifetime, not that of the calls
	ctx := limit.Named(m.calls.ctx, o.Name)
	m.exec.Open(m.calls.ctx, o.Engine, o.Config(), o.Source(m.calls.ctx, ctx, m, math.MaxInt)) // the window is the bound
	w.Executor, w.Context, w.Closed, w.NeedTick = &m.exec, m.calls.ctx, stint.ErrClosed, c.run.ticker.wake
	if newRows != nil {
		w.Rows, w.MaxSize = newRows(), 1
	}
	m.window.Open(w)
	c.run.ticker.join(m)
	return m
}

// end stops the stages before and the tasks, and waits for them.
func (m *parMap[T, R]) end() {
	m.window.Close()
	m.calls.cancel()
	m.up.stopAndWait()
	m.exec.Source.Stop()
	m.exec.Wait()
	m.exec.Close()
}

// acquire returns a batch for as many records as the window admits.
func (m *parMap[T, R]) acquire(s *sender[T]) (*batch[T], bool) {
	n, ok := m.window.Admit(s.c.ctx.Done(), s.c.beforeBlocking)
	if !ok {
		return nil, false
	}
	b := m.spare.Swap(nil)
	if b == nil || n > cap(b.items) {
		b = &batch[T]{state: sealed, items: make([]T, n)}
	}
	b.items = b.items[:n]
	return b, true
}

// send submits the records of a batch.
func (m *parMap[T, R]) send(b *batch[T]) {
	if b.last {
		m.upErr = b.err
		m.window.End()
		return
	}
	m.window.Submit(slices.Clone(b.items[:b.n]), len(b.items)-b.n)
	clear(b.items[:b.n])
	m.spare.Store(b)
}

// notify does nothing: workers are running the tasks that were sent.
func (m *parMap[T, R]) notify() {}

// receiveAll passes on the results.
func (m *parMap[T, R]) receiveAll(to sink[R]) {
	for t := m.next(); t != nil; t = m.next() {
		if !pump(m.down, t.Results(), to) {
			return
		}
		err := t.Err()
		m.window.Release(t)
		if err != nil {
			m.down.fail(err)
			return
		}
	}
	switch {
	case m.window.Dropped():
		m.down.fail(stint.ErrClosed)
	case m.window.Complete() && m.upErr != nil:
		m.down.fail(m.upErr)
	}
}

// next waits for the next task. It returns nil when there is none, or no more records are
// wanted.
func (m *parMap[T, R]) next() *window.Task[T, R] {
	t := m.window.Next()
	if t == nil {
		m.down.beforeBlocking()
		m.window.Await()
		t = m.window.Next()
	}
	return t
}

func (m *parMap[T, R]) tick() bool { return m.window.Tick() }

func (m *parMap[T, R]) needsTick() bool { return m.window.NeedsTick() }

// Run runs a task.
func (m *parMap[T, R]) Run(ctx context.Context, t work.Task) error { return m.window.Run(ctx, t) }

// Short makes m a work.BatchRunner.
func (m *parMap[T, R]) Short() bool { return m.window.Short() }

// Failed ends the run after a panic, and otherwise the stream at the position of the task. If
// the function given to Overload panics or calls Goexit, the task fails by that.
func (m *parMap[T, R]) Failed(t work.Task, o task.Outcome) {
	if o.Panic != nil {
		m.down.run.recordPanic(m.calls, o)
		return
	}
	err := m.down.run.recordError(m.calls, o.Failure())
	limiter := m.exec.Engine.Limiter()
	if task.Guard(func() { limiter.Report(err) }, func(o task.Outcome) { m.fail(t, m.down.run.recordPanic(m.calls, o)) }) {
		m.fail(t, err)
	}
}

// fail ends the results at the position of t.
func (m *parMap[T, R]) fail(t work.Task, err error) {
	m.window.StopBehind(t)
	m.window.Finish(t, err)
}

// Abandoned is called when the pool drops the queued tasks.
func (m *parMap[T, R]) Abandoned() { m.window.Drop() }
