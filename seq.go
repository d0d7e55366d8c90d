package stint

import (
	"context"
	"iter"
	"math"

	"github.com/stint-go/stint/internal/option"
	"github.com/stint-go/stint/internal/task"
	"github.com/stint-go/stint/internal/window"
	"github.com/stint-go/stint/internal/work"
)

// EachSeq calls f for every value of seq, as Each does for the items of a slice. It pulls seq
// on the caller's goroutine as room becomes free: at most limit+queue+1 values are pulled and
// not finished. The calls of f run on other goroutines. If the caller is a task on the same
// limiter or pool, calls of f use the caller's permit, one at a time, while EachSeq waits.
//
// After an error or the end of ctx no more values are pulled. If ctx has ended, even after the
// last value, EachSeq returns the cause of ctx, since seq may have been cut short. EachSeq
// waits for seq to yield or return: for a source that may block or fail, use stream.Generate. A
// panic of seq passes through after the calls of f have finished. If a call of f has panicked
// too, EachSeq panics with that *PanicError, whose Also has the panic of seq.
//
// Options: Limiter, Pool, Queue, KeepGoing, LowPriority, Name. EachSeq panics if ctx, seq or f
// is nil.
func EachSeq[T any](ctx context.Context, seq iter.Seq[T], f func(context.Context, T) error, opts ...Option) error {
	checkArgs("EachSeq", ctx, f == nil)
	if seq == nil {
		panic("stint: EachSeq: nil sequence")
	}
	o := collectIn(ctx, "EachSeq", groupOptions, opts)
	e := &eachSeq[T]{f: f}
	e.init(ctx, "EachSeq", &o, e, o.Room(o.Limit()))
	pulled := false
	defer func() {
		if !pulled { // seq panicked or called Goexit
			passing := task.Passing(e.outcome.waits)
			e.outcome.cancel(context.Canceled)
			e.executor.Source.Wait()
			e.close()
			passing.End(nil)
			if e.outcome.failures.Panicked() { // not lost beside that of seq
				e.outcome.raiseBeside(task.Unreturned(recover()))
			}
		}
	}()
	for v := range seq {
		if !e.start(&v) {
			break
		}
	}
	pulled = true
	return e.wait()
}

// eachSeq are the tasks of one EachSeq. Their payloads are pointers to values.
type eachSeq[T any] struct {
	tasks
	f func(context.Context, T) error
}

func (e *eachSeq[T]) Run(ctx context.Context, t work.Task) error { return e.f(ctx, *t.Payload.(*T)) }

// MapSeq calls f for every value of seq and yields the results, in input order unless Unordered
// is given. Nothing runs before the result is ranged over. MapSeq pulls seq on a goroutine of
// its own, concurrently with the loop body, so variables that seq and the body share need a
// lock. At most limit+queue values are pulled whose results are not consumed. If the consumer
// is a task on the same limiter or pool, calls of f use the consumer's permit, one at a time,
// while the consumer waits.
//
// A result must not need the context given to f, which ends at the first error, or with the
// loop: read the body of an *http.Response in f.
//
// After the first error, MapSeq cancels the running calls, yields the results in order up to
// the first missing one, and then the error with a zero value. It drops later results. Under
// KeepGoing each error is yielded in its position, as an *ItemError. If ctx ends, its cause is
// yielded last. A panic of f or seq is raised in the consumer as a *PanicError; runtime.Goexit
// in f or seq is ErrGoexit. Leaving the loop cancels the calls, as an error does. In both cases
// MapSeq waits for the calls, and for seq to yield or return: for a source that may block or
// fail, use stream.Generate.
//
// Options: Limiter, Pool, Queue, KeepGoing, LowPriority, Unordered, Name. MapSeq panics if ctx,
// seq or f is nil.
func MapSeq[T, R any](ctx context.Context, seq iter.Seq[T], f func(context.Context, T) (R, error), opts ...Option) iter.Seq2[R, error] {
	checkArgs("MapSeq", ctx, f == nil)
	if seq == nil {
		panic("stint: MapSeq: nil sequence")
	}
	o := collectIn(ctx, "MapSeq", seqOptions, opts)
	return func(yield func(R, error) bool) {
		(&mapSeq[T, R]{function: "MapSeq"}).run(ctx, seq, nil, f, &o, yield)
	}
}

// mapSeq are the tasks of one run of a MapSeq or a MapKey.
type mapSeq[T, R any] struct {
	tasks
	function string // raises panics
	window   window.Window[T, R]
	together bool          // the errors are those of the call, as in EachSeq, and are not yielded
	exited   chan struct{} // closed when the feeder has ended
}

// run yields the results for seq. key is nil, or that of a MapKey.
func (m *mapSeq[T, R]) run(ctx context.Context, seq iter.Seq[T], key func(T) any, f func(context.Context, T) (R, error), o *option.Options, yield func(R, error) bool) {
	m.exited = make(chan struct{})
	m.init(ctx, m.function, o, m, math.MaxInt) // the window is the bound
	m.window.Open(window.Config[T, R]{
		Call: f, Key: key, Executor: &m.executor, Context: m.outcome.ctx, Unordered: o.Has(option.Unordered), Queue: o.Room(-1),
	})
	go m.feed(seq)
	m.consume(yield)
}

func (m *mapSeq[T, R]) Run(ctx context.Context, t work.Task) error { return m.window.Run(ctx, t) }

// Failed makes an error under KeepGoing the result of its value. Any other failure
// ends the run: the consumer takes the outcome of the call instead.
func (m *mapSeq[T, R]) Failed(t work.Task, o task.Outcome) {
	i := m.window.Index(t)
	switch {
	case !m.outcome.keepGoing || o.Panic != nil:
		m.tasks.Failed(t, o)
		return
	case m.together:
		if !m.outcome.failed(i, o) {
			m.window.Finish(t, nil)
		}
		return
	}
	if err := o.Failure(); m.outcome.report(err) {
		m.window.Finish(t, &ItemError{i, err})
	}
}

// feed pulls the sequence, on a goroutine of its own.
func (m *mapSeq[T, R]) feed(seq iter.Seq[T]) {
	defer close(m.exited)
	defer m.window.End()
	task.Guard(func() {
		m.admit() // the first value
		for v := range seq {
			if !m.send(v) {
				return
			}
		}
	}, m.outcome.broken)
}

// send submits a value, and waits until one more may be pulled. It reports whether to
// continue.
func (m *mapSeq[T, R]) send(v T) bool {
	a := m.window.Submit(v)
	m.answered(a)
	return a == work.Accepted && m.admit()
}

// admit waits until a value may be pulled. It reports false if no more are wanted.
func (m *mapSeq[T, R]) admit() bool {
	return m.window.Admit(m.outcome.ctx.Done()) && m.outcome.ctx.Err() == nil
}

// consume yields the results and ends the run.
func (m *mapSeq[T, R]) consume(yield func(R, error) bool) {
	ended := false
	defer func() {
		if !ended { // left early, or unwinding
			passing := task.Passing(m.outcome.waits)
			m.outcome.cancel(context.Canceled)
			m.end()
			passing.End(nil)
			if m.outcome.failures.Panicked() { // not lost beside that of the body
				m.outcome.raiseBeside(task.Unreturned(recover()))
			}
		}
	}()
	for t := m.next(); t != nil; t = m.next() {
		v, ok, err := t.Result()
		m.window.Release()
		if ok && !yield(v, err) {
			m.outcome.cancel(context.Canceled)
			m.end()
			ended = true
			m.outcome.failures.Raise() // a panic is not left behind
			return
		}
	}
	m.end()
	ended = true
	err := m.outcome.result()
	if m.outcome.keepGoing && !m.rest(yield) {
		return
	}
	if err != nil {
		var zero R
		yield(zero, err)
	}
}

// rest yields the errors behind the first missing result, and reports whether the
// consumer wants more.
func (m *mapSeq[T, R]) rest(yield func(R, error) bool) bool {
	for t := range m.window.Untaken() {
		var zero R
		if err := t.Err(); err != nil && !yield(zero, err) {
			return false
		}
	}
	return true
}

// next waits for the next task. It returns nil when no more will come: all are taken, or
// the run has ended and the next task has no result.
func (m *mapSeq[T, R]) next() *window.Task[T, R] {
	t := m.window.Next()
	if t == nil {
		m.window.Await()
		t = m.window.Next()
	}
	return t
}

// end waits for the tasks and the feeder.
func (m *mapSeq[T, R]) end() {
	m.executor.Source.Wait()
	<-m.exited
	m.window.Close()
	if f := &m.outcome.failures; f.Panicked() {
		for t := range m.window.Untaken() { // neither yielded nor lost
			if err := t.Err(); err != nil {
				f.Keep(err, true)
			}
		}
	}
	m.close()
}
