package stint

import (
	"context"
	"iter"
	"math"

	"github.com/stint-go/stint/internal/task"
	"github.com/stint-go/stint/internal/work"
)

// EachSeq calls f for every value of seq, as Each does for the items of a slice.
// The sequence is pulled on the caller's goroutine, as capacity frees up: at most
// the limit, the queue and one more values have been pulled and not finished. The
// calls of f run on other goroutines; when the caller is a task on the same
// limiter or pool, one of them at a time runs in its place while it waits.
//
// After an error or the end of ctx nothing more is pulled; when ctx has ended, also
// after the last value, its cause is returned: a sequence that ends may have been
// cut short by it. EachSeq waits for seq to yield or to return: a sequence that
// blocks should watch the same ctx, which the error of a task does not end. A panic of
// seq passes through, after the calls of f have ended; if one of these has panicked
// too, that panic is raised, with the one of seq in its Also.
//
// Options: a Limiter or a Pool, Burst, Overload, Queue (see there for the default),
// KeepGoing, Name. EachSeq panics if ctx, seq or f is nil.
func EachSeq[T any](ctx context.Context, seq iter.Seq[T], f func(context.Context, T) error, opts ...Option) error {
	check("EachSeq", ctx, f == nil)
	if seq == nil {
		panic("stint: EachSeq: nil sequence")
	}
	o := collect("EachSeq", groupOptions, opts)
	e := &eachSeq[T]{f: f}
	e.tasks.init(ctx, &o, e, o.Room(o.Limit()))
	pulled := false
	defer func() {
		if !pulled { // seq panicked or called Goexit
			e.tasks.stop(context.Canceled)
			e.tasks.place.Source.Wait()
			e.tasks.close()
			if e.tasks.verdict.panicked != nil { // not lost beside that of seq
				e.tasks.verdict.raiseBeside(task.Unreturned(recover()))
			}
		}
	}()
	for v := range seq {
		if e.tasks.submit(nil, &v, e.tasks.place.Home) != work.Accepted {
			break
		}
	}
	pulled = true
	return e.tasks.wait()
}

// eachSeq is one call of EachSeq, as the job of its source. The tasks are
// pointers to values.
type eachSeq[T any] struct {
	tasks tasks
	f     func(context.Context, T) error
}

func (e *eachSeq[T]) Run(ctx context.Context, t work.Task) error { return e.f(ctx, *t.Func.(*T)) }

func (e *eachSeq[T]) Failed(t work.Task, o task.Outcome) { e.tasks.failed(t, o) }

func (e *eachSeq[T]) Abandoned() { e.tasks.verdict.fail(ErrClosed) }

// MapSeq calls f for every value of seq and yields the results, in the order of
// the input or, under Unordered, as they come. Nothing runs before the result is
// ranged over; each range over it is a run of its own.
//
// The sequence is pulled on a goroutine of its own, at the same time as the loop
// body runs, so that variables that both use need a lock, and a task whose context
// it uses counts as one with it. It is pulled as capacity frees up: at most the
// limit and the queue values have been pulled and their results not been consumed.
// In input order a slow value holds those behind it up once they are that many; a
// longer queue lets more of them go ahead. When the consumer is a task on the same
// limiter or pool, one call of f at a time runs in its place while it waits for a
// result, and it goes on when that call has ended.
//
// The first error cancels the rest. Results that were finished before the first
// missing one are still yielded, then the error once, with a zero value, and
// nothing after it. Under KeepGoing each error is yielded at its place as an
// *ItemError, and the rest goes on. When ctx ends first, its cause comes last; before
// it, under KeepGoing, the errors behind the first missing result. A
// panic of f or of seq is raised again in the consumer as a *PanicError; a call of
// runtime.Goexit in either is ErrGoexit.
//
// Leaving the range early cancels what runs and waits for it, and for seq to yield or
// to return, and so does the first error: a sequence that blocks should watch the same
// ctx, which neither of them ends. A call of f that panics meanwhile is raised, also in
// place of a panic of the loop body, which is in its Also then, or of a Goexit of the
// body, which goes on when that panic has been recovered.
//
// Options: a Limiter or a Pool, Burst, Overload, Queue (see there for the default), KeepGoing,
// Unordered, Name. MapSeq panics if ctx, seq or f is nil.
func MapSeq[T, R any](ctx context.Context, seq iter.Seq[T], f func(context.Context, T) (R, error), opts ...Option) iter.Seq2[R, error] {
	check("MapSeq", ctx, f == nil)
	if seq == nil {
		panic("stint: MapSeq: nil sequence")
	}
	o := collect("MapSeq", seqOptions, opts)
	return func(yield func(R, error) bool) {
		m := &mapSeq[T, R]{f: f, unordered: o.Unordered, queue: o.Room(-1), exited: make(chan struct{})}
		m.tasks.init(ctx, &o, m, math.MaxInt) // the window is the bound
		go m.feed(seq)
		m.consume(yield)
	}
}

// mapSeq is one run of a MapSeq, as the job of its source. The tasks are nodes.
//
//	pulled  by the feeder; queued, and in input order at the end of the list
//	done    by a worker; under Unordered it joins the list only now
//	yielded by the consumer, from the head of the list
//
// The list and the counts are guarded by the lock of the source's engine.
type mapSeq[T, R any] struct {
	tasks     tasks
	f         func(context.Context, T) (R, error)
	unordered bool
	queue     int // -1: the limit

	head, tail *node[T, R]
	open       int  // pulled and not yielded
	fed        bool // the feeder is done
	exited     chan struct{}
}

// node is one value on its way.
type node[T, R any] struct {
	in   T
	out  R
	err  error
	done bool
	next *node[T, R]
}

func (m *mapSeq[T, R]) Run(ctx context.Context, t work.Task) error {
	n := t.Func.(*node[T, R])
	out, err := m.f(ctx, n.in)
	if err != nil {
		return err
	}
	n.out = out
	m.finish(n)
	return nil
}

// Failed makes an error under KeepGoing the result of its value. Otherwise the
// list ends there: the consumer takes the verdict instead.
func (m *mapSeq[T, R]) Failed(t work.Task, o task.Outcome) {
	if !m.tasks.verdict.keepGoing || o.Panic != nil {
		m.tasks.failed(t, o)
		return
	}
	n, err := t.Func.(*node[T, R]), outcomeError(o)
	if tell := m.tasks.verdict.overload; tell != nil && !tell(err) {
		m.tasks.place.Source.Stop()
		return
	}
	n.err = &ItemError{t.Index, err}
	m.finish(n)
}

func (m *mapSeq[T, R]) Abandoned() { m.tasks.verdict.fail(ErrClosed) }

func (m *mapSeq[T, R]) finish(n *node[T, R]) {
	m.tasks.place.Source.Update(func() {
		n.done = true
		var zero T
		n.in = zero
		if m.unordered {
			m.link(n)
		}
	})
}

// link puts n at the end of the list. It is called with the engine's lock held.
func (m *mapSeq[T, R]) link(n *node[T, R]) {
	if m.tail == nil {
		m.head = n
	} else {
		m.tail.next = n
	}
	m.tail = n
}

// feed pulls the sequence, on a goroutine of its own.
func (m *mapSeq[T, R]) feed(seq iter.Seq[T]) {
	defer close(m.exited)
	returned := false
	defer func() {
		if !returned {
			m.broken(task.Unreturned(recover()))
		}
		m.tasks.place.Source.Update(func() { m.fed = true })
	}()
	for v := range seq {
		if !m.submit(&node[T, R]{in: v}) {
			break
		}
	}
	returned = true
}

// broken ends the run after a panic or a Goexit of the sequence.
func (m *mapSeq[T, R]) broken(o task.Outcome) {
	m.tasks.verdict.broken(o)
	m.tasks.place.Source.Stop()
}

// submit hands n on, and waits until one more value may be pulled.
func (m *mapSeq[T, R]) submit(n *node[T, R]) bool {
	s := m.tasks.place.Source
	if m.tasks.offer(n) != work.Accepted {
		return false
	}
	s.Update(func() {
		m.open++
		if !m.unordered {
			m.link(n)
		}
	})
	s.Await(func() bool { return m.open < m.window() || m.tasks.verdict.over() })
	return !m.tasks.verdict.over()
}

// window is how many values may be pulled and not yielded.
func (m *mapSeq[T, R]) window() int {
	limit := m.tasks.place.Engine.Limiter().Bound()
	queue := m.queue
	if queue < 0 {
		queue = limit
	}
	return limit + min(queue, math.MaxInt-limit) // the sum may be more than an int holds
}

// consume yields the results and ends the run.
func (m *mapSeq[T, R]) consume(yield func(R, error) bool) {
	ended := false
	defer func() {
		if !ended { // left early, or unwinding
			m.tasks.stop(context.Canceled)
			m.end()
			if m.tasks.verdict.panicked != nil { // not lost beside that of the body
				m.tasks.verdict.raiseBeside(task.Unreturned(recover()))
			}
		}
	}()
	for n := m.next(); n != nil; n = m.next() {
		if !yield(n.out, n.err) {
			m.tasks.stop(context.Canceled)
			m.end()
			ended = true
			m.tasks.verdict.raise() // a panic is not left behind
			return
		}
	}
	m.end()
	ended = true
	err := m.tasks.verdict.result()
	if m.tasks.verdict.keepGoing && !m.rest(yield) {
		return
	}
	if err != nil {
		var zero R
		yield(zero, err)
	}
}

// rest yields the errors of the values behind the first that is missing, and reports
// whether the consumer wants more.
func (m *mapSeq[T, R]) rest(yield func(R, error) bool) bool {
	for n := m.head; n != nil; n = n.next {
		if n.err != nil && !yield(n.out, n.err) {
			return false
		}
	}
	return true
}

// next waits for the next result. It returns nil when there is no more: all is
// yielded, or a task has failed and the head of the list is not there.
func (m *mapSeq[T, R]) next() (n *node[T, R]) {
	ready := func() bool { return m.head != nil && m.head.done }
	m.tasks.place.Source.WaitUntil(func() bool {
		return ready() || m.fed && m.open == 0 || m.tasks.verdict.over()
	}, func() {
		if !ready() {
			return
		}
		n = m.head
		m.head = n.next
		if m.head == nil {
			m.tail = nil
		}
		m.open--
	})
	if n != nil {
		m.tasks.place.Source.Update(func() {}) // the feeder may go on
	}
	return n
}

// end waits for the tasks and the feeder.
func (m *mapSeq[T, R]) end() {
	m.tasks.place.Source.Wait()
	<-m.exited
	if v := &m.tasks.verdict; v.panicked != nil {
		for n := m.head; n != nil; n = n.next { // not to be yielded, nor to be lost
			if n.err != nil {
				v.late = append(v.late, n.err)
			}
		}
	}
	m.tasks.close()
}
