package errgroup

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/internal/task"
)

// A Group is tasks that are started one by one and waited for together.
//
// The zero Group is ready for use: it has no limit, and no context that an error
// cancels. A Group must not be copied after its first use. Its methods may be called
// by several goroutines at once, tasks of the group included, but for Wait: a task must
// not call it, and while no task is active Go and TryGo must not be called at the
// same time.
type Group struct {
	cancel  func(error)    // ends the context that WithContext made; nil: there is none
	workers sync.WaitGroup // goroutines

	mu     sync.Mutex
	bound  *bound       // nil: SetLimit has not been called
	queue  *queue       // tasks without a worker: those accepted, then those of submitters that wait; nil: none so far
	onWay  bool         // a worker was sent, and will look at the queue before it runs a task
	active atomic.Int32 // tasks that were accepted and have not ended; and the bit crowd

	fail atomic.Pointer[failed] // nil: no task has failed; what it leads to is guarded by mu
}

// WithContext returns a new Group and a context made from ctx. That context ends when
// a task of the group fails for the first time, with the error as its cause, or the
// *stint.PanicError; and when Wait returns. It panics if ctx is nil.
func WithContext(ctx context.Context) (*Group, context.Context) {
	if ctx == nil {
		panic("errgroup: WithContext: nil context")
	}
	ctx, cancel := context.WithCancelCause(ctx)
	return &Group{cancel: cancel}, ctx
}

// Go starts f as a task. While as many tasks are active as the limit says, it waits:
// until one of them has ended, first come, first served, or until SetLimit allows
// more. Nothing else ends the wait, not even the end of the group's context. It panics
// if f is nil.
//
// If f returns an error, panics or calls runtime.Goexit, and no task did before, the
// group's context ends. Tasks that are started later run all the same.
func (g *Group) Go(f func() error) {
	if f == nil {
		panic("errgroup: Group.Go: nil function")
	}
	if !g.start(f) {
		g.block(f)
		g.mu.Unlock()
	}
}

// TryGo starts f as Go does, if fewer tasks are active than the limit says, and
// reports whether it did. It does not wait. It panics if f is nil.
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

// SetLimit makes n the number of tasks that may be active at once. A negative n is no
// limit, as at first; under 0, Go waits and TryGo starts nothing until SetLimit is
// called again. It does not block. As it may let in a Go that waits, it must not be
// called beside Wait while no task is active.
//
// It panics if n is not negative while tasks are active: the limit of before may not
// be kept to then.
func (g *Group) SetLimit(n int) {
	g.mu.Lock()
	if n < 0 && g.bound == nil {
		g.mu.Unlock()
		return
	}
	for n >= 0 {
		if active := g.count(); active > 0 {
			g.mu.Unlock()
			panic(fmt.Errorf("errgroup: Group.SetLimit(%d): %d tasks of the group are active", n, active))
		}
		if g.bound != nil || g.active.CompareAndSwap(0, crowd) { // no task was counted without the lock since
			break
		}
	}
	if g.bound == nil {
		g.bound = newBound(&g.mu)
	}
	g.bound.limit = n
	g.bound.tell(g.admit())
	g.help()
}

// Wait waits until every task has ended, and returns the first error, in time, or nil.
// If a task panicked it panics with a *stint.PanicError, which has the stack of the
// task, whatever the others did. A task that called runtime.Goexit has failed with
// stint.ErrGoexit. Wait ends the group's context.
//
// The group may be used again after Wait; what has failed stays so.
func (g *Group) Wait() error {
	g.workers.Wait()
	panicked, err := g.verdict()
	if g.cancel != nil {
		g.cancel(err)
	}
	if panicked != nil {
		panic(panicked)
	}
	return err
}

// follows reports whether a task has returned no more than that a panic has cancelled
// it: Wait tells of the panic.
func (g *Group) follows(o task.Outcome) bool {
	f := g.fail.Load()
	if f == nil || g.cancel == nil || o.Err == nil {
		return false
	}
	g.mu.Lock()
	panicked := f.panicked
	g.mu.Unlock()
	return panicked != nil && len(task.Besides([]error{o.Err}, "errgroup: error", panicked)) == 0
}

// verdict returns what Wait panics with, unless that is nil, and what it returns.
func (g *Group) verdict() (panicked *stint.PanicError, err error) {
	f := g.fail.Load()
	if f == nil {
		return nil, nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	return f.verdict()
}

// failure takes in how a task ended that did not return nil.
func (g *Group) failure(o task.Outcome) {
	if g.follows(o) {
		return
	}
	g.mu.Lock()
	f := g.fail.Load()
	first := f == nil
	if first {
		f = new(failed)
		g.fail.Store(f)
	}
	cause := f.add(o)
	g.mu.Unlock()
	if first && g.cancel != nil {
		g.cancel(cause) // which may call functions of others
	}
}
