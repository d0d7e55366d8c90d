// Package engine adapts stint, other libraries and hand-written code to two interfaces,
// Engine and Loop, so that each workload is written once.
package engine

import (
	"context"

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

	// OneSubmitter engines hold their limit only while one goroutine submits.
	OneSubmitter bool

	// Kept engines are created once by a program: Go and Wait may be repeated
	// before Close.
	Kept bool

	// New creates an engine. Limit 0 means no option; only stint supports it.
	New func(limit int, t Task) Engine
}

// An Engine runs one task any number of times: Go, then Wait, then Close, once
// unless the engine is kept.
type Engine interface {
	// Go submits the task n times, one by one, blocking as the engine does. It
	// may be called concurrently.
	Go(n int)

	// Wait returns when every submitted task has finished, and the workers of
	// engines that end them there.
	Wait()

	// Close releases the engine. It is not measured.
	Close()
}

// noClose is embedded by engines with nothing to close.
type noClose struct{}

func (noClose) Close() {}

// Opens returns all open-ended engines, stint's last.
func Opens() []Open {
	return []Open{
		Goroutines(), Semaphore(), Channel(), Errgroup(), Conc(), Ants(), Pond(), Gopool(), Workerpool(),
		Pool(), Group(),
	}
}
