package stream

import (
	"context"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/internal/lane"
	"github.com/stint-go/stint/internal/limit"
	"github.com/stint-go/stint/internal/race"
	"github.com/stint-go/stint/internal/task"
	"github.com/stint-go/stint/internal/work"
)

// A parTask is the payload of a task of a ParMap, or the task of a turn of a ParMapKey: the records for which one worker calls f.
type parTask[T, R any] struct {
	index    uint64 // of its first record
	in       []T
	out      []R                        // results
	done     int                        // how many there are
	splitOff int                        // of them, that are the results of another task now
	err      error                      // of the record after these
	submitBy *limit.Scope               // the scope that it is submitted in
	turn     *lane.Turn[*parTask[T, R]] // of ParMapKey, in which it runs
	finished bool                       // may be taken; guarded by parMap.mu, like next
	next     *parTask[T, R]

	// Of a task that runs.
	several  bool         // records: the ticker may split it
	scope    *limit.Scope // of the task
	start    time.Time
	step     int    // records claimed at once
	claimed  uint32 // atomic: records whose calls have started or will; sealed: no more will
	ticked   bool   // a tick has passed since the start; guarded by parMap.mu
	runIndex int    // in parMap.running, or -1; guarded by parMap.mu
}

// taskTime is how long the calls of one task should take: long compared with the time to
// pass on a task, and short for records that wait.
const taskTime = 50 * time.Microsecond

// taskSize returns how many records make a task.
func (m *parMap[T, R]) taskSize() int {
	cost := m.cost.Load()
	if cost == 0 {
		return 1
	}
	return int(min(max(int64(taskTime)*1000/cost, 1), int64(m.maxSize)))
}

// Short reports whether tasks have several records.
func (m *parMap[T, R]) Short() bool { return m.taskSize() > 1 }

// claimSize returns how many records a worker claims at once: as in Each, about a
// microsecond's worth, or one if the limit is meant for calls that wait.
func (m *parMap[T, R]) claimSize() int {
	if m.oneByOne {
		return 1
	}
	return max(m.taskSize()/int(taskTime/time.Microsecond), 1)
}

// maxApart is how many records are tasks of their own in programs built with -race, since the
// detector takes the records of one task for ordered. Nothing is learned from them, because
// learning would order the tasks too.
const maxApart = 1000

// learn updates the cost of a record from the time that n records took. The cost falls by
// half at most.
func (m *parMap[T, R]) learn(took time.Duration, n int) {
	cost := int64(min(took, time.Hour))*1000/int64(max(n, 1)) + 1 // more than an hour may overflow
	if old := m.cost.Load(); old > 0 {
		cost = max(cost, old/2)
	}
	m.cost.Store(cost)
}

// cut appends tasks of items, the first of which has an index. It is called with mu held.
func (m *parMap[T, R]) cut(tasks []*parTask[T, R], items []T, index uint64, scope *limit.Scope) []*parTask[T, R] {
	k := m.taskSize()
	for len(items) > 0 {
		t, n := m.newTask(), min(k, len(items))
		t.index, t.in, t.submitBy = index, append(t.in, items[:n]...), scope
		tasks = append(tasks, t)
		items, index = items[n:], index+uint64(n)
	}
	return tasks
}

// newTask returns an empty task. It is called with mu held.
func (m *parMap[T, R]) newTask() *parTask[T, R] {
	last := len(m.freeTasks) - 1
	if last < 0 {
		return &parTask[T, R]{runIndex: -1}
	}
	t := m.freeTasks[last]
	m.freeTasks = m.freeTasks[:last]
	*t = parTask[T, R]{in: t.in[:0], out: t.out[:0], runIndex: -1}
	return t
}

// recycle frees t, and admits as many records as it had.
func (m *parMap[T, R]) recycle(t *parTask[T, R]) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.admitted -= len(t.in) - t.splitOff
	if m.pointers {
		clear(t.in)
		clear(t.out[:t.done])
	}
	t.err, t.next = nil, nil
	m.freeTasks = append(m.freeTasks, t)
	m.wakeSender()
}

// submit submits tasks. Tasks that a closed pool refuses fail.
func (m *parMap[T, R]) submit(tasks []*parTask[T, R]) {
	for _, t := range tasks {
		if m.rows == nil {
			m.offer(t, t, t.submitBy)
		} else if m.exec.Refuses() { // or a key without end would hold up the end of the pool
			m.refuse(t)
		} else if turn := m.rows.Enter(t); turn != nil {
			m.offer(t, turn, t.submitBy)
		}
	}
}

// offer submits t, as the payload.
func (m *parMap[T, R]) offer(t *parTask[T, R], payload any, from *limit.Scope) {
	if m.exec.Source.Offer(payload, from) == work.Over && m.exec.Closed() {
		m.refuse(t)
	}
}

// refuse fails t, which a closed pool has refused.
func (m *parMap[T, R]) refuse(t *parTask[T, R]) {
	m.fail(t, stint.ErrClosed)
	m.exec.Source.Notify() // t is no task that ends
}

// begin returns the task that runs as wt.
func (m *parMap[T, R]) begin(ctx context.Context, wt work.Task) *parTask[T, R] {
	if m.rows == nil {
		return wt.Payload.(*parTask[T, R])
	}
	turn := wt.Payload.(*lane.Turn[*parTask[T, R]])
	m.rows.Begin(turn, limit.ScopeOf(ctx))
	turn.Task.turn = turn
	return turn.Task
}

// began returns the task that ran as wt.
func (m *parMap[T, R]) began(wt work.Task) *parTask[T, R] {
	if m.rows == nil {
		return wt.Payload.(*parTask[T, R])
	}
	return wt.Payload.(*lane.Turn[*parTask[T, R]]).Task
}

// Run calls f for the records of a task. It claims records before it calls f for them: the
// ticker may split off the others.
func (m *parMap[T, R]) Run(ctx context.Context, wt work.Task) error {
	t := m.begin(ctx, wt)
	if t.index > m.last.Load() {
		m.finish(t)
		return nil
	}
	in := t.in
	if cap(t.out) < len(in) {
		t.out = make([]R, len(in))
	}
	out, start, up := t.out[:len(in)], time.Now(), m.up
	t.several, t.step = len(in) > 1, 1
	if t.several {
		t.step = m.claimSize()
		m.watch(t, limit.ScopeOf(ctx), start)
	}
	for i := 0; i < len(in); {
		to := min(i+t.step, len(in))
		if t.several && !atomic.CompareAndSwapUint32(&t.claimed, uint32(i), uint32(to)) {
			in = in[:i] // the others were split off
			break
		}
		if ctx.Err() != nil {
			return nil // no more records are wanted
		}
		if t.index > m.last.Load() {
			break
		}
		for ; i < to; i++ {
			r, err := m.f(ctx, in[i])
			if err != nil {
				return err
			}
			out[i] = r
			t.done = i + 1
			if atomic.LoadUint32(&up.halt)&stopBit != 0 && ctx.Err() != nil {
				return nil
			}
		}
	}
	took, several := time.Since(start), t.several
	if !race.Sharp || t.index >= maxApart {
		m.learn(took, len(in))
	}
	m.finish(t) // from now on it belongs to the consumer
	if several && took >= taskTime/4 && m.asleep.Load() {
		runtime.Gosched() // the consumer has been woken, and short calls may keep all CPUs busy
	}
	return nil
}

// finish lets the consumer take t. If another task of its key may run now, it submits the
// turn of t again: in the scope of the task, since a closed pool takes what its tasks start.
func (m *parMap[T, R]) finish(t *parTask[T, R]) {
	turn := t.turn
	m.mu.Lock()
	if t.runIndex >= 0 {
		m.unwatch(t)
	}
	t.finished = true
	m.demand.Finish(m.exec.Engine.Controller(), m.limit())
	if m.unordered {
		m.insert(m.tail, t)
	}
	isNext := t == m.head
	m.mu.Unlock()
	if isNext {
		m.exec.Source.NotifyAtEnd()
	}
	if turn == nil {
		return
	}
	if from := turn.From; m.rows.Leave(turn) {
		m.exec.Source.Offer(turn, from) // refused only when no more are wanted
	}
}

// watch lets the ticker split t, which has started.
func (m *parMap[T, R]) watch(t *parTask[T, R], scope *limit.Scope, start time.Time) {
	m.mu.Lock()
	t.scope, t.start, t.ticked, t.runIndex = scope, start, false, len(m.running)
	m.running = append(m.running, t)
	m.mu.Unlock()
	m.down.run.ticker.wake()
}

// unwatch ends watch. It is called with mu held.
func (m *parMap[T, R]) unwatch(t *parTask[T, R]) {
	last := len(m.running) - 1
	m.running[t.runIndex], m.running[last].runIndex = m.running[last], t.runIndex
	m.running[last] = nil
	m.running, t.runIndex = m.running[:last], -1
}

// tick splits tasks that started before the last tick: they take much longer than expected.
func (m *parMap[T, R]) tick() bool {
	var rest []*parTask[T, R]
	m.mu.Lock()
	watching := len(m.running)
	for i := watching - 1; i >= 0; i-- { // backwards, since the last replaces one that is removed
		if t := m.running[i]; t.ticked {
			rest = append(rest, m.split(t)...)
		} else {
			t.ticked = true
		}
	}
	m.mu.Unlock()
	if watching == 0 {
		return false
	}
	m.exec.Source.Notify() // the head may be a task that was split off
	m.submit(rest)
	return m.needsTick()
}

func (m *parMap[T, R]) needsTick() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.running) > 0
}

// split makes a finished task of the results of t, and returns tasks for the unclaimed
// records. It is called with mu held, so t does not finish meanwhile.
func (m *parMap[T, R]) split(t *parTask[T, R]) (rest []*parTask[T, R]) {
	m.unwatch(t)
	claimed := int(atomic.LoadUint32(&t.claimed))
	if m.exec.Engine.Limiter().Bound() > 1 { // else no other worker could run them, and the order would change
		claimed = int(atomic.SwapUint32(&t.claimed, sealed))
		rest = m.splitRest(t, claimed)
	}
	if n := claimed - t.step; n > 0 {
		results := m.newTask()
		results.index, results.in, results.out = t.index, append(results.in, t.in[:n]...), append(results.out, t.out[:n]...)
		results.done, results.finished = n, true
		t.splitOff = n
		m.pending++
		m.insert(m.before(t), results)
	}
	return rest
}

// splitRest makes tasks of the records of t behind the first n, and inserts them after it.
// It is called with mu held.
func (m *parMap[T, R]) splitRest(t *parTask[T, R], n int) []*parTask[T, R] {
	if n == len(t.in) {
		return nil
	}
	m.learn(time.Since(t.start), n)
	if c := m.exec.Engine.Controller(); c != nil && !m.Short() {
		c.NotifyWaiting() // nothing else may do so before a call has returned
	}
	rest := m.cut(nil, t.in[n:], t.index+uint64(n), t.scope) // submitted by a running task: a closed pool accepts them
	if m.pointers {
		clear(t.in[n:])
	}
	t.in = t.in[:n]
	m.insertAll(t, rest)
	return rest
}

// Failed ends the run after a panic, and otherwise the stream at the position of the task.
func (m *parMap[T, R]) Failed(wt work.Task, o task.Outcome) {
	if o.Panic != nil {
		m.down.run.recordPanic(m.calls, o)
		return
	}
	err := o.Err
	if o.Goexit {
		err = stint.ErrGoexit
	}
	m.down.run.recordError(m.calls, err)
	t := m.began(wt)
	if m.report(t, err) {
		m.fail(t, err)
	}
}

// fail finishes t with the error of its next record.
func (m *parMap[T, R]) fail(t *parTask[T, R], err error) {
	t.err = err
	last := t.index
	if m.unordered {
		last = 0
	}
	for {
		old := m.last.Load()
		if old <= last || m.last.CompareAndSwap(old, last) {
			break
		}
	}
	m.finish(t)
}

// report tells the controller of an error. If the function given to Overload panics or
// calls Goexit, t fails as if f had done so: then report returns false.
func (m *parMap[T, R]) report(t *parTask[T, R], err error) (ok bool) {
	controller := m.exec.Engine.Controller()
	if controller == nil {
		return true
	}
	defer func() {
		if !ok {
			m.fail(t, m.down.run.recordPanic(m.calls, task.Unreturned(recover())))
		}
	}()
	controller.Failed(err)
	return true
}

// Abandoned is called when the pool has dropped the queued tasks.
func (m *parMap[T, R]) Abandoned() { m.abandoned.Store(true) }
