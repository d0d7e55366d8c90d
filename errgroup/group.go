package errgroup

import (
	"context"
	"fmt"
	"math"
	"sync"
	"sync/atomic"

	"github.com/stint-go/stint/internal/limit"
	"github.com/stint-go/stint/internal/race"
	"github.com/stint-go/stint/internal/task"
)

// A Group is a set of tasks that are started one by one and waited for together.
//
// The zero Group is ready for use: it has no limit, and does not cancel on error. A Group must
// not be copied after first use. Its methods may be called concurrently, also by its tasks,
// with two exceptions: a task must not call Wait, and while no task is active, Go and TryGo
// must not be called concurrently with Wait.
type Group struct {
	ends     race.Ends      // of tasks, for those that start under a limit
	cancel   func(error)    // of the context that WithContext made, or nil
	tasks    sync.WaitGroup // goroutines, one for each active task
	slots    atomic.Uint64  // of type slots
	failures task.Failures

	mu               sync.Mutex
	joined, admitted uint64    // submitters that have waited for a slot, and those that got one
	room             sync.Cond // wakes them in the order in which they came
}

// WithContext returns a new Group and a context derived from ctx. The context is cancelled when
// a task of the group fails for the first time, or when Wait returns. After a failed task, its
// cause is the error or the *stint.PanicError of the task. WithContext panics if ctx is nil.
func WithContext(ctx context.Context) (*Group, context.Context) {
	if ctx == nil {
		panic("errgroup: WithContext: nil context")
	}
	ctx, cancel := limit.CallContext(ctx, "")
	return &Group{cancel: cancel}, ctx
}

// Go starts f as a task. While as many tasks are active as the limit allows, Go blocks until a
// task has finished, first come, first served, or until SetLimit raises the limit. Cancelling
// the group's context does not end the wait. Go panics if f is nil.
//
// The first task that returns an error, panics or calls runtime.Goexit cancels the group's
// context. Tasks started later still run.
func (g *Group) Go(f func() error) {
	if f == nil {
		panic("errgroup: Group.Go: nil function")
	}
	if !g.take() {
		g.wait()
	}
	go g.run(f)
}

// TryGo starts f as a task if fewer tasks are active than the limit allows, and reports whether
// it started f. It does not block. TryGo panics if f is nil.
func (g *Group) TryGo(f func() error) bool {
	if f == nil {
		panic("errgroup: Group.TryGo: nil function")
	}
	ok := g.take()
	if ok {
		go g.run(f)
	}
	return ok
}

// SetLimit limits the number of active tasks to n. A negative n is no limit, which is the
// default. With a limit of 0, Go blocks and TryGo starts nothing until SetLimit is called
// again. SetLimit does not block. It may let a waiting Go start its task, so it must not be
// called concurrently with Wait while no task is active.
//
// SetLimit panics if n is not negative and tasks are active, because there might be more than
// n.
func (g *Group) SetLimit(n int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for {
		s := slots(g.slots.Load())
		if active := s.active(); n >= 0 && active > 0 {
			panic(fmt.Errorf("errgroup: Group.SetLimit(%d): %d tasks of the group are active", n, active))
		}
		if g.slots.CompareAndSwap(uint64(s), uint64(s.withLimit(n))) { // no task was counted meanwhile
			break
		}
	}
	g.admitLocked()
}

// Wait blocks until all tasks have finished, cancels the group's context, and returns the
// first error, or nil. A task that called runtime.Goexit failed with stint.ErrGoexit. If a
// task panicked, Wait panics with a *stint.PanicError that has the stack of the task.
//
// The group may be used again after Wait; its failures remain.
func (g *Group) Wait() error {
	g.tasks.Wait()
	_, err := g.failures.First()
	if g.cancel != nil {
		g.cancel(err)
	}
	g.failures.Raise(err)
	return err
}

// slots is the state of a group in one word: the limit plus 1, or 0 without a limit; the bit
// waiting; the number of active tasks. Steps that change the limit or the bit are made with
// Group.mu held, and so is each step that returns a slot while the bit is set.
type slots uint64

const (
	waiting    slots = 1 << 31 // submitters wait
	activeMask slots = waiting - 1
	limitShift       = 32
)

func (s slots) active() int { return int(s & activeMask) }

func (s slots) limited() bool { return s>>limitShift > 0 }

// withLimit returns s with a limit of n. More than MaxInt32 tasks cannot be counted.
func (s slots) withLimit(n int) slots {
	limit := slots(max(-1, min(n, math.MaxInt32)) + 1)
	return limit<<limitShift | s&(waiting|activeMask)
}

// full reports whether there is no free slot.
func (s slots) full() bool { return s.limited() && s.active() >= int(s>>limitShift-1) }

// open reports whether a task that comes now gets a slot: submitters that wait come first.
func (s slots) open() bool { return !s.limited() || s&waiting == 0 && !s.full() }

// take takes a slot for a task, and reports whether there was one for it. Its step is hidden
// from the race detector: only a limit orders the task after those that have finished.
func (g *Group) take() bool {
	race.Disable()
	s := slots(g.slots.Load())
	for s.open() && !g.slots.CompareAndSwap(uint64(s), uint64(s+1)) {
		s = slots(g.slots.Load())
	}
	race.Enable()
	if !s.open() {
		return false
	}
	g.tasks.Add(1)
	if s.limited() {
		g.ends.Acquire()
	}
	return true
}

// wait waits until the submitter is given a slot for its task. Each submitter is woken once,
// after it was given the slot of a finished task.
func (g *Group) wait() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.room.L = &g.mu
	number := g.joined
	g.joined++
	g.slots.Or(uint64(waiting))
	g.admitLocked() // a task may have finished since take
	for g.admitted <= number {
		g.room.Wait()
	}
	g.ends.Acquire() // of tasks that have finished without the lock
}

// admitLocked gives free slots to submitters that wait.
func (g *Group) admitLocked() {
	for g.admitted < g.joined && !slots(g.slots.Load()).full() {
		g.slots.Add(1)
		g.tasks.Add(1)
		g.admitted++
		g.room.Signal()
	}
	if g.admitted == g.joined {
		g.slots.And(uint64(^waiting))
	}
}

// release returns the slot of a task that has finished.
func (g *Group) release() {
	defer g.tasks.Done() // after its slot went to a submitter that waits: Wait waits for that one too
	g.ends.Release()
	race.Disable()
	s := slots(g.slots.Load())
	for s&waiting == 0 && !g.slots.CompareAndSwap(uint64(s), uint64(s-1)) {
		s = slots(g.slots.Load())
	}
	race.Enable()
	if s&waiting == 0 {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.slots.Add(^uint64(0))
	g.admitLocked()
}

// run is the goroutine of a task.
func (g *Group) run(f func() error) {
	defer g.release() // even if cancelling the context does not return
	returned := false
	defer func() {
		if !returned {
			g.fail(task.Unreturned(recover()))
		}
	}()
	if err := f(); err != nil {
		g.fail(task.Outcome{Err: err})
	}
	returned = true
}

// fail records the outcome of a task that did not return nil, and cancels the context if it
// is the first.
func (g *Group) fail(o task.Outcome) {
	if first := g.record(o); first != nil && g.cancel != nil {
		g.cancel(first) // which may call code of the caller
	}
}

// record records the outcome of a failed task, and returns it as an error if it is the first.
// Only the first error and the first panic are kept, since tasks run after a failure too.
func (g *Group) record(o task.Outcome) (first error) {
	panicked, err := g.failures.First()
	switch {
	case o.Panic != nil && panicked != nil:
	case o.Panic != nil:
		if p := o.Panic.Raised("errgroup: task"); g.failures.Panic(p, g.waits) {
			task.CrashUnraised(g, "errgroup: a Group", &g.failures)
			return p
		}
	case err != nil:
	case panicked != nil && g.cancel != nil && len(task.Besides([]error{o.Failure()}, "errgroup: error", panicked)) == 0:
		// it reports that the panic has cancelled the context
	case g.failures.Fail(o.Failure(), nil):
		return o.Failure()
	}
	return nil
}

// waits returns what a panic waits for.
func (g *Group) waits() string {
	return fmt.Sprintf("errgroup.Group.Wait; other tasks that run: %d", slots(g.slots.Load()).active())
}
