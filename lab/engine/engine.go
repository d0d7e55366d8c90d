// Package engine holds the ways to run many tasks that the laboratory compares:
// one file each for what people write by hand, for the libraries, and for
// stint. A workload is written once, against Engine or Loop.
package engine

import (
	"context"

	"github.com/stint-go/stint/lab/result"
)

// A Task is one function in the forms that engines take. It is made once for
// all runs of it, so that no engine is charged for a closure that it did not
// ask for.
type Task struct {
	Plain func()
	Pool  func(context.Context)
	Group func(context.Context) error
}

// TaskOf returns f in all forms. Those with a context cost a call more: where a
// nanosecond counts, write them out.
func TaskOf(f func()) Task {
	return Task{
		Plain: f,
		Pool:  func(context.Context) { f() },
		Group: func(context.Context) error { f(); return nil },
	}
}

// An Open is an open-ended engine: it is given tasks one by one, and does not
// know how many there will be.
type Open struct {
	Name string
	Doc  string // what is used of it
	Kind result.Kind

	// Unbounded engines run everything at once, whatever the limit.
	Unbounded bool

	// OneSubmitter engines hold their limit only while one goroutine submits.
	OneSubmitter bool

	// Kept engines are made once by a program that uses them: Go and Wait may
	// follow each other any number of times before Close.
	Kept bool

	// New makes one. A limit of 0 stands for what stint does without; the
	// others must be told.
	New func(limit int, t Task) Engine
}

// An Engine runs one task any number of times. It is used once, unless it is
// kept: Go, then Wait, then Close.
type Engine interface {
	// Go starts the task n times, one by one. It waits as the engine makes
	// it wait. Several goroutines may call it at once.
	Go(n int)

	// Wait returns when every task that was started has ended. Engines that
	// end their workers there, end them.
	Wait()

	// Close frees what the engine still holds. It is not measured.
	Close()
}

// A keeper is an engine with nothing to close.
type keeper struct{}

func (keeper) Close() {}

// Opens returns all open-ended engines, stint's last.
func Opens() []Open {
	return []Open{
		Goroutines(), Semaphore(), Channel(), Errgroup(), Conc(), Ants(), Pond(), Gopool(), Workerpool(),
		Pool(), Group(),
	}
}
