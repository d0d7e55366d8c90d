package stint

import (
	"context"
	"iter"
	"math"
	"sync"

	"github.com/stint-go/stint/internal/auto"
	"github.com/stint-go/stint/internal/lane"
	"github.com/stint-go/stint/internal/limit"
	"github.com/stint-go/stint/internal/option"
	"github.com/stint-go/stint/internal/task"
	"github.com/stint-go/stint/internal/work"
)

// EachSeq calls f for every value of seq, as Each does for the items of a slice. It pulls
// seq on the caller's goroutine as capacity frees up: at most limit+queue+1 values are
// pulled and not finished. The calls of f run on other goroutines. If the caller is a task
// on the same limiter or pool, one call at a time runs on the caller's permit while EachSeq
// waits.
//
// After an error or the end of ctx nothing more is pulled. If ctx has ended, even after
// the last value, its cause is returned, since seq may have been cut short. EachSeq waits
// for seq to yield or return: use From for a sequence that may block or fail. A panic of
// seq passes through after the calls of f; if one of them has panicked too, that panic is
// raised, with the panic of seq in its Also.
//
// Options: Limiter or Pool, Queue, From, KeepGoing, LowPriority, Name.
// EachSeq panics if ctx, seq or f is nil.
func EachSeq[T any](ctx context.Context, seq iter.Seq[T], f func(context.Context, T) error, opts ...Option) error {
	checkArgs("EachSeq", ctx, f == nil)
	if seq == nil {
		panic("stint: EachSeq: nil sequence")
	}
	o := collectIn(ctx, "EachSeq", eachOptions, opts)
	e := &eachSeq[T]{f: f}
	e.init(ctx, &o, e, o.Room(o.Limit()))
	pulled := false
	defer func() {
		if !pulled { // seq panicked or called Goexit
			passing := task.Passing(e.outcome.waits)
			e.stop(context.Canceled)
			e.executor.Source.Wait()
			e.close()
			passing.End(nil)
			if e.outcome.panics != nil { // not lost beside that of seq
				e.outcome.raiseBeside(task.Unreturned(recover()))
			}
		}
	}()
	for v := range pull(&e.tasks, o.From, e.outcome.ctx, seq) {
		if e.submit(nil, &v, e.executor.Parent) != work.Accepted {
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

func (e *eachSeq[T]) caller() string { return "EachSeq" }

func (e *eachSeq[T]) Run(ctx context.Context, t work.Task) error { return e.f(ctx, *t.Payload.(*T)) }

// MapSeq calls f for every value of seq and yields the results, in input order unless
// Unordered is given. Nothing runs before the result is ranged over. MapSeq pulls seq on a
// goroutine of its own, concurrently with the loop body, so variables that both use need a
// lock. At most limit+queue values are pulled whose results are not consumed. If the
// consumer is a task on the same limiter or pool, one call of f at a time runs on the
// consumer's permit while the consumer waits.
//
// A result must not need the context given to f, which ends at the first error, or with the
// loop: read the body of an *http.Response in f.
//
// After the first error, the results of finished calls before the first missing one are
// yielded, then the error with a zero value; running calls are cancelled, and their results
// dropped. Under KeepGoing each error is yielded in its position
// as an *ItemError. If ctx ends, its cause is yielded last. A panic of f or seq is
// raised in the consumer as a *PanicError; runtime.Goexit in either is ErrGoexit.
// Leaving the loop, like an error, cancels the calls and waits for them, and for seq to
// yield or return: use From for a sequence that may block or fail. Options: Limiter or
// Pool, Queue, From, KeepGoing, LowPriority, Unordered, Name. MapSeq
// panics if ctx, seq or f is nil.
func MapSeq[T, R any](ctx context.Context, seq iter.Seq[T], f func(context.Context, T) (R, error), opts ...Option) iter.Seq2[R, error] {
	checkArgs("MapSeq", ctx, f == nil)
	if seq == nil {
		panic("stint: MapSeq: nil sequence")
	}
	o := collectIn(ctx, "MapSeq", seqOptions, opts)
	return func(yield func(R, error) bool) {
		(&mapSeq[T, R]{f: f}).run(ctx, seq, &o, yield)
	}
}

// mapSeq are the tasks of one run of a MapSeq or a MapKey. Their payloads are nodes, or turns
// of nodes.
//
//	pulled   by the feeder; in input order at the end of the list
//	queued   at once, or when the node of its key before it is done
//	done     by a worker; under Unordered appended to the list only now
//	yielded  by the consumer, from the head of the list
type mapSeq[T, R any] struct {
	tasks
	f         func(context.Context, T) (R, error)
	rows      lane.Rows[*node[T, R]] // of MapKey, or nil
	together  bool                   // the errors are those of the call, as in EachSeq, and are not yielded
	unordered bool
	queue     int // -1: the limit

	canTake func() bool   // mayTake, one allocation a run
	watcher limit.Watcher // for vacant
	vacant  chan struct{} // has a value when the feeder should look at the window
	exited  chan struct{}

	mu         sync.Mutex
	head, tail *node[T, R]
	pending    int  // pulled and not yielded
	waiting    bool // the feeder, for vacant
	fed        bool // the feeder has ended
	demand     auto.Demand
}

// turn is a turn of a MapKey.
type turn[T, R any] = lane.Turn[*node[T, R]]

// node is a value and its result.
type node[T, R any] struct {
	in   T
	out  R
	err  error
	done bool
	next *node[T, R]
}

// run yields the results for seq.
func (m *mapSeq[T, R]) run(ctx context.Context, seq iter.Seq[T], o *option.Options, yield func(R, error) bool) {
	m.unordered, m.queue = o.Unordered, o.Room(-1)
	m.vacant, m.exited = make(chan struct{}, 1), make(chan struct{})
	m.canTake = m.mayTake
	m.init(ctx, o, m, math.MaxInt) // the window is the bound
	m.watcher.Wake = m.vacant
	m.executor.Engine.Limiter().Watch(&m.watcher)
	go m.feed(pull(&m.tasks, o.From, m.feederContext(), seq))
	m.consume(yield)
}

// caller names the function. Those that are made of others are ranged over too.
func (m *mapSeq[T, R]) caller() string {
	switch {
	case m.together:
		return "EachKey"
	case m.rows != nil:
		return "MapKey"
	}
	return "MapSeq"
}

func (m *mapSeq[T, R]) Run(ctx context.Context, t work.Task) error {
	if m.rows != nil {
		m.rows.Begin(t.Payload.(*turn[T, R]), limit.ScopeOf(ctx))
	}
	n, _ := m.node(t)
	out, err := m.f(ctx, n.in)
	if err != nil {
		return err
	}
	n.out = out
	m.finish(n, t)
	return nil
}

// Failed makes an error under KeepGoing the result of its value. Any other failure
// ends the run: the consumer takes the outcome of the call instead.
func (m *mapSeq[T, R]) Failed(t work.Task, o task.Outcome) {
	n, i := m.node(t)
	switch {
	case !m.outcome.keepGoing || o.Panic != nil:
		m.tasks.Failed(t, o)
		return
	case m.together:
		if m.outcome.failed(i, o) {
			m.executor.Source.Stop()
		} else {
			m.finish(n, t)
		}
		return
	}
	err := outcomeError(o)
	if !m.outcome.report(err) {
		m.executor.Source.Stop()
		return
	}
	n.err = &ItemError{i, err}
	m.finish(n, t)
}

// node returns the node that runs as t, and its number.
func (m *mapSeq[T, R]) node(t work.Task) (*node[T, R], int) {
	if m.rows != nil {
		turn := t.Payload.(*turn[T, R])
		return turn.Task, turn.Index
	}
	return t.Payload.(*node[T, R]), t.Index
}

// finish records that n, which ran as t, has a result. If another node of its key may run
// now, it submits its turn again: in the scope of the task, since a closed pool takes what
// its tasks start.
func (m *mapSeq[T, R]) finish(n *node[T, R], t work.Task) {
	m.mu.Lock()
	var zero T
	n.in, n.done = zero, true
	m.demand.Finish(m.executor.Engine.Controller(), m.limit())
	if m.unordered {
		m.link(n)
	}
	isNext := n == m.head
	m.mu.Unlock()
	if isNext {
		m.executor.Source.NotifyAtEnd()
	}
	if m.rows == nil {
		return
	}
	turn := t.Payload.(*turn[T, R])
	if from := turn.From; m.rows.Leave(turn) {
		m.answered(m.executor.Source.Offer(turn, from))
	}
}

// link appends n to the list. It is called with mu held.
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
		m.mu.Lock()
		m.fed = true
		m.mu.Unlock()
		m.executor.Source.Notify()
	}()
	for v := range seq {
		if !m.send(&node[T, R]{in: v}) {
			break
		}
	}
	returned = true
}

// broken ends the run after a panic or a Goexit of the sequence.
func (m *mapSeq[T, R]) broken(o task.Outcome) {
	m.outcome.broken(o)
	m.executor.Source.Stop()
}

// send submits n, and waits until one more value may be pulled. It reports whether to
// continue.
func (m *mapSeq[T, R]) send(n *node[T, R]) bool {
	if !m.queueUp(n) {
		return false
	}
	m.mu.Lock()
	m.pending++
	m.demand.Submit(1)
	if !m.unordered {
		m.link(n)
	}
	isNext := n == m.head && n.done // already
	m.mu.Unlock()
	if isNext {
		m.executor.Source.Notify()
	}
	for !m.mayPull() {
		select {
		case <-m.vacant:
		case <-m.outcome.ctx.Done():
		}
	}
	return !m.outcome.hasEnded()
}

// queueUp submits n, or leaves it behind the others of its key. It reports false if no more
// values are wanted.
func (m *mapSeq[T, R]) queueUp(n *node[T, R]) bool {
	if m.rows == nil {
		return m.offer(n) == work.Accepted
	}
	if m.executor.Refuses() { // or a key without end would hold up the end of the pool
		m.outcome.refuse()
		return false
	}
	turn := m.rows.Enter(n)
	return turn == nil || m.offer(turn) == work.Accepted
}

// mayPull reports whether the feeder can continue.
func (m *mapSeq[T, R]) mayPull() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.setWaiting(m.pending >= m.window() && !m.outcome.hasEnded())
	return !m.waiting
}

// setWaiting records whether the feeder waits. It is called with mu held.
func (m *mapSeq[T, R]) setWaiting(waiting bool) {
	m.waiting = waiting
	m.demand.Wait(m.executor.Engine.Controller(), waiting && m.queue >= 0, m.queue, m.limit())
}

func (m *mapSeq[T, R]) limit() int { return m.executor.Engine.Limiter().Bound() }

// window returns how many values may be pulled and not yielded.
func (m *mapSeq[T, R]) window() int {
	limit := m.limit()
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
			passing := task.Passing(m.outcome.waits)
			m.stop(context.Canceled)
			m.end()
			passing.End(nil)
			if m.outcome.panics != nil { // not lost beside that of the body
				m.outcome.raiseBeside(task.Unreturned(recover()))
			}
		}
	}()
	for n := m.next(); n != nil; n = m.next() {
		if !yield(n.out, n.err) {
			m.stop(context.Canceled)
			m.end()
			ended = true
			m.outcome.raise() // a panic is not left behind
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
	for n := m.head; n != nil; n = n.next {
		if n.err != nil && !yield(n.out, n.err) {
			return false
		}
	}
	return true
}

// next waits for the next result. It returns nil when no more will come: all are
// yielded, or a task has failed and the head of the list is not done.
func (m *mapSeq[T, R]) next() *node[T, R] {
	n := m.take()
	if n == nil {
		m.executor.Source.AwaitLending(m.canTake)
		n = m.take()
	}
	return n
}

// mayTake reports whether the consumer can continue.
func (m *mapSeq[T, R]) mayTake() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.head != nil && m.head.done || m.fed && m.pending == 0 || m.outcome.hasEnded()
}

// take removes the head of the list if it is done, and returns it. The feeder may
// continue then.
func (m *mapSeq[T, R]) take() *node[T, R] {
	m.mu.Lock()
	defer m.mu.Unlock()
	n := m.head
	if n == nil || !n.done {
		return nil
	}
	m.head = n.next
	if m.head == nil {
		m.tail = nil
	}
	m.pending--
	if m.waiting {
		m.setWaiting(false)
		select {
		case m.vacant <- struct{}{}:
		default: // the feeder looks already
		}
	}
	return n
}

// end waits for the tasks and the feeder.
func (m *mapSeq[T, R]) end() {
	m.executor.Source.Wait()
	<-m.exited
	m.executor.Engine.Limiter().Unwatch(&m.watcher)
	if out := &m.outcome; out.panics != nil {
		for n := m.head; n != nil; n = n.next { // neither yielded nor lost
			if n.err != nil {
				out.late = append(out.late, n.err)
			}
		}
	}
	m.close()
}
