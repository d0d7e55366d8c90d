package errgroup

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/internal/task"
)

// A Group is a set of tasks that are started one by one and waited for together.
//
// The zero Group is ready for use: it has no limit, and does not cancel on error. A Group
// must not be copied after first use. Its methods may be called concurrently, also by its
// tasks, except for Wait: a task must not call Wait, and while no task is active, Go and
// TryGo must not be called concurrently with Wait.
type Group struct {
	cancel  func(error)    // of the context that WithContext made, or nil
	workers sync.WaitGroup // goroutines

	mu       sync.Mutex
	limiter  *limiter     // nil: SetLimit has not been called
	queue    *queue       // accepted tasks without a worker, then tasks of submitters that wait; nil: none so far
	starting bool         // a worker was started, and will look at the queue before it runs a task
	active   atomic.Int32 // accepted tasks that have not finished; and the bit locked

	failures atomic.Pointer[failures] // nil: no task has failed; mu guards what it points to
}

// WithContext returns a new Group and a context derived from ctx. The context is cancelled
// when a task of the group fails for the first time, with the error or *stint.PanicError as
// its cause, or when Wait returns. WithContext panics if ctx is nil.
func WithContext(ctx context.Context) (*Group, context.Context) {
	if ctx == nil {
		panic("errgroup: WithContext: nil context")
	}
	ctx, cancel := context.WithCancelCause(ctx)
	return &Group{cancel: cancel}, ctx
}

// Go starts f as a task. While as many tasks are active as the limit allows, it blocks
// until one of them has finished, first come, first served, or until SetLimit allows more.
// Cancelling the group's context does not end the wait. Go panics if f is nil.
//
// The first task that returns an error, panics or calls runtime.Goexit cancels the group's
// context. Tasks started later still run.
func (g *Group) Go(f func() error) {
	if f == nil {
		panic("errgroup: Group.Go: nil function")
	}
	if !g.start(f) {
		g.block(f)
		g.mu.Unlock()
	}
}

// TryGo starts f as a task if fewer tasks are active than the limit allows, and reports
// whether it did. It does not block. TryGo panics if f is nil.
func (g *Group) TryGo(f func() error) bool {
	if f == nil {
		panic("errgroup: Group.TryGo: nil function")
	}
	if !g.start(f) {
		g.mu.Unlock()
		return false
	}
	return true
}

// SetLimit limits the number of active tasks to n. A negative n is no limit, which is the
// default. With a limit of 0, Go blocks and TryGo starts nothing until SetLimit is called
// again. SetLimit does not block. It may admit a Go that waits, so it must not be called
// concurrently with Wait while no task is active.
//
// SetLimit panics if n is not negative and tasks are active, because they might exceed it.
func (g *Group) SetLimit(n int) {
	g.mu.Lock()
	if n < 0 && g.limiter == nil {
		g.mu.Unlock()
		return
	}
	for n >= 0 {
		if active := g.count(); active > 0 {
			g.mu.Unlock()
			panic(fmt.Errorf("errgroup: Group.SetLimit(%d): %d tasks of the group are active", n, active))
		}
		if g.limiter != nil || g.active.CompareAndSwap(0, locked) { // no task was counted without the lock meanwhile
			break
		}
	}
	if g.limiter == nil {
		g.limiter = newLimiter(&g.mu)
	}
	g.limiter.limit = n
	g.limiter.wake(g.admit())
	g.startWorker()
}

// Wait blocks until all tasks have finished, cancels the group's context, and returns the
// first error, or nil. A task that called runtime.Goexit failed with stint.ErrGoexit. If a
// task panicked, Wait panics with a *stint.PanicError that has the stack of the task.
//
// The group may be used again after Wait; its failures remain.
func (g *Group) Wait() error {
	g.workers.Wait()
	panicked, err := g.outcome()
	if g.cancel != nil {
		g.cancel(err)
	}
	if panicked != nil {
		panic(panicked)
	}
	return err
}

// isConsequence reports whether the error of a task only reports the cancellation after a
// panic, which Wait reports.
func (g *Group) isConsequence(o task.Outcome) bool {
	f := g.failures.Load()
	if f == nil || g.cancel == nil || o.Err == nil {
		return false
	}
	g.mu.Lock()
	panicked := f.panicked
	g.mu.Unlock()
	return panicked != nil && len(task.Besides([]error{o.Err}, "errgroup: error", panicked)) == 0
}

// outcome returns the panic and the error of Wait.
func (g *Group) outcome() (panicked *stint.PanicError, err error) {
	f := g.failures.Load()
	if f == nil {
		return nil, nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	return f.outcome()
}

// fail records the outcome of a task that did not return nil.
func (g *Group) fail(o task.Outcome) {
	if g.isConsequence(o) {
		return
	}
	g.mu.Lock()
	f := g.failures.Load()
	first := f == nil
	if first {
		f = new(failures)
		g.failures.Store(f)
	}
	cause := f.add(o)
	g.mu.Unlock()
	if first && g.cancel != nil {
		g.cancel(cause) // which may call code of the caller
	}
}
