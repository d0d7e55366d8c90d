package stream

import (
	"context"
	"math"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/internal/limit"
	"github.com/stint-go/stint/internal/option"
	"github.com/stint-go/stint/internal/task"
	"github.com/stint-go/stint/internal/window"
	"github.com/stint-go/stint/internal/work"
)

const parMapOptions = option.Limiter | option.Pool | option.Queue | option.Unordered | option.Name | option.LowPriority

// ParMap calls f for the records of s concurrently. It returns the results in the order of the
// records, or under Unordered as they arrive. A Limiter or a Pool bounds the number of calls.
// Without a Limiter or a Pool the limit is adaptive. A record is in progress until its result
// has been passed on. At most twice the limit of records are in progress, or under Queue(n) the
// limit plus n.
//
// A call costs about a microsecond besides f. If f takes less, use Map, or Chunk and a ParMap
// whose f handles a slice of records.
//
// The first error, in the order of the records, ends the stream at its position. Calls for
// earlier records are not cancelled. Calls for later records do not start; the context of
// running ones ends when the error is passed on. Under Unordered, the first error in time ends
// the stream. A call of runtime.Goexit is the error stint.ErrGoexit, and a closed pool is
// stint.ErrClosed. To continue after errors, make the error a part of the result.
//
// Options: a Limiter, a Pool, Queue, Unordered, LowPriority, Name. ParMap panics if f is nil.
func ParMap[T, R any](s Stream[T], f func(context.Context, T) (R, error), opts ...stint.Option) Stream[R] {
	check("ParMap", "function", f == nil)
	o := option.Collect("stream", "ParMap", parMapOptions, opts)
	return parMapped(s, nil, f, o)
}

// parMapped is ParMap, or ParMapKey if key is not nil.
func parMapped[T, R any](s Stream[T], key func(T) any, f func(context.Context, T) (R, error), o option.Options) Stream[R] {
	return Stream[R]{feed: func(c *chain, in *lifetime, to sink[R]) {
		o := o
		o.Inherit(limit.ScopeOf(in.ctx))
		m := newParMap(c, in, &o, window.Config[T, R]{Call: f, Key: key, Unordered: o.Has(option.Unordered), Queue: o.Room(-1)})
		m.up.start(func() { s.flow(m.up, m.up.lifetime, oneByOne(m.up.lifetime, m.put)) }, m.upEnded)
		c.during(func() { m.receive(to) }, m.end)
	}}
}

// parMap is a ParMap in one run: the sink of the stages before it, and the runner of the tasks
// of its window.
type parMap[T, R any] struct {
	window   window.Window[T, R]
	exec     work.Executor
	down, up *chain    // behind and before
	calls    *lifetime // of the calls of the function
	upErr    error     // ended the records before; written before End of the window
}

func newParMap[T, R any](c *chain, in *lifetime, o *option.Options, w window.Config[T, R]) *parMap[T, R] {
	m := &parMap[T, R]{down: c, calls: newLifetime(in.ctx)}
	m.up = c.run.chain(m.calls.ctx) // an error ends its lifetime, not that of the calls
	ctx := limit.Named(m.calls.ctx, o.Name)
	m.exec.Open(m.calls.ctx, o.Engine, o.Config(), o.Source(m.calls.ctx, ctx, m, math.MaxInt)) // the window is the bound
	w.Executor, w.Context, w.Closed = &m.exec, m.calls.ctx, stint.ErrClosed
	m.window.Open(w)
	return m
}

// end stops the stages before and the tasks, and waits for them.
func (m *parMap[T, R]) end() {
	m.window.Close()
	m.calls.cancel() // and the lifetime of m.up
	<-m.up.done
	m.exec.Source.Stop()
	m.exec.Wait()
	m.exec.Close()
}

// put submits a record, when there is room for it.
func (m *parMap[T, R]) put(v T) bool {
	return m.window.Admit(m.up.ctx.Done()) && m.window.Submit(v) == work.Accepted
}

// upEnded is called when the stages before have ended.
func (m *parMap[T, R]) upEnded(err error) {
	m.upErr = err
	m.window.End()
}

// receive passes on the results.
func (m *parMap[T, R]) receive(to sink[R]) {
	for t := m.next(); t != nil; t = m.next() {
		v, ok, err := t.Result()
		if err != nil {
			m.down.fail(err)
			return
		}
		if ok && (m.calls.ended() || !to.one(v)) {
			return
		}
		m.window.Release()
	}
	switch {
	case m.window.Dropped():
		m.down.fail(stint.ErrClosed)
	case m.window.AllTaken() && m.upErr != nil:
		m.down.fail(m.upErr)
	}
}

// next waits for the next task. It returns nil when there is none, or no more records are
// wanted.
func (m *parMap[T, R]) next() *window.Task[T, R] {
	t := m.window.Next()
	if t == nil {
		m.down.wakeReceiver()
		m.window.Await()
		t = m.window.Next()
	}
	return t
}

// Run runs a task.
func (m *parMap[T, R]) Run(ctx context.Context, t work.Task) error { return m.window.Run(ctx, t) }

// Failed ends the run after a panic, and otherwise the stream at the position of the task. If
// the function given to Overload panics or calls Goexit, the task fails by that.
func (m *parMap[T, R]) Failed(t work.Task, o task.Outcome) {
	if o.Panic != nil {
		m.down.run.recordPanic(m.calls, o)
		return
	}
	err := m.down.run.recordError(m.calls, o.Failure())
	if task.Guard(func() { m.exec.Report(err) }, func(o task.Outcome) { m.fail(t, m.down.run.recordPanic(m.calls, o)) }) {
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
