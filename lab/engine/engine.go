// Package engine adapts stint, other libraries and hand-written code to two interfaces,
// Engine and Loop, so that each workload is written once.
package engine

import (
	"context"
	"sync"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/lab/result"
)

// A Task is one function in the forms that engines take. It is made once, so
// that no engine pays for closures it does not need.
type Task struct {
	Plain func()
	Pool  func(context.Context)
	Group func(context.Context) error
}

// TaskOf returns f in all forms. The forms with a context cost an extra call;
// write them out where nanoseconds count.
func TaskOf(f func()) Task {
	return Task{
		Plain: f,
		Pool:  func(context.Context) { f() },
		Group: func(context.Context) error { f(); return nil },
	}
}

// An Open is an open-ended engine: it receives tasks one by one, in unknown
// number.
type Open struct {
	result.Model // Doc names the API used

	// Kept engines are created once by a program: Go and Wait may be repeated
	// before Close.
	Kept bool

	// New creates an engine. Limit 0 means no option; only stint supports it.
	New func(limit int, t Task) Engine
}

// An Engine runs one task any number of times: Go, then Wait, then Close, once
// unless the engine is kept.
type Engine interface {
	// Go submits the task n times, one by one, blocking as the engine does.
	Go(n int)

	// Wait returns when every submitted task has finished, and the workers of
	// engines that end them there.
	Wait()

	// Close releases the engine. It is not measured.
	Close()
}

// An adapter is an Engine made of functions. Each task costs one call of start, for all
// engines alike.
type adapter struct {
	start       func()   // submits the task
	tasks       *counted // unless nil, of an engine that has no other wait
	wait, close func()
}

func (a *adapter) Go(n int) {
	for range n {
		if a.tasks != nil {
			a.tasks.Add(1)
		}
		a.start()
	}
}

func (a *adapter) Wait() {
	if a.tasks != nil {
		a.tasks.Wait()
		return
	}
	a.wait()
}

func (a *adapter) Close() {
	if a.close != nil {
		a.close()
	}
}

// A counted counts the tasks that have not finished.
type counted struct {
	sync.WaitGroup
	f func() // the task, which tells its end
}

func count(f func()) *counted {
	c := new(counted)
	c.f = func() {
		defer c.Done()
		f()
	}
	return c
}

// must panics on an error that an engine has no reason to return.
func must(err error) {
	if err != nil {
		panic(err)
	}
}

func bound(limit int) []stint.Option {
	if limit == 0 {
		return nil
	}
	return []stint.Option{stint.Limit(limit)}
}
