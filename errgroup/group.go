package errgroup

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/stint-go/stint/internal/limit"
	"github.com/stint-go/stint/internal/race"
)

// A Group is a set of tasks that are started one by one and waited for together.
//
// The zero Group is ready for use: it has no limit, and does not cancel on error. A Group
// must not be copied after first use. Its methods may be called concurrently, also by its
// tasks, except for Wait: a task must not call Wait, and while no task is active, Go and
// TryGo must not be called concurrently with Wait.
type Group struct {
	ends     race.Ends                // of tasks, for those that start under a limit
	cancel   func(error)              // of the context that WithContext made, or nil
	tasks    sync.WaitGroup           // goroutines, one for each active task
	slots    atomic.Uint64            // see slots
	failures atomic.Pointer[failures] // nil: no task has failed

	mu   sync.Mutex
	line *line // the submitters that wait for a slot; nil: none so far
}

// WithContext returns a new Group and a context derived from ctx. The context is cancelled
// when a task of the group fails for the first time, with the error or *stint.PanicError as
// its cause, or when Wait returns. WithContext panics if ctx is nil.
func WithContext(ctx context.Context) (*Group, context.Context) {
	if ctx == nil {
		panic("errgroup: WithContext: nil context")
	}
	ctx, cancel := limit.CallContext(ctx, "")
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
	if !g.take() {
		g.wait()
	}
	go g.run(f)
}

// TryGo starts f as a task if fewer tasks are active than the limit allows, and reports
// whether it did. It does not block. TryGo panics if f is nil.
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
// again. SetLimit does not block. It may admit a Go that waits, so it must not be called
// concurrently with Wait while no task is active.
//
// SetLimit panics if n is not negative and tasks are active, because they might exceed it.
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
	f := g.failures.Load()
	err := f.first()
	if g.cancel != nil {
		g.cancel(err)
	}
	f.raise()
	return err
}
