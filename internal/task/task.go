// Package task names the facts about how a task ended. The public packages
// turn them into their own errors and panics.
package task

import "runtime/debug"

// Panic is what a task panicked with, and the stack it had then.
type Panic struct {
	Value any
	Stack []byte
}

// Outcome is how a task ended that did not return nil. Exactly one field is set.
type Outcome struct {
	Err    error  // it returned this error
	Panic  *Panic // it panicked
	Goexit bool   // it called runtime.Goexit
}

// Unreturned is the outcome of a task that did not return; v is what recover
// gave. It must be called by the deferred function that called recover, while the
// stack of the panic is still there.
func Unreturned(v any) Outcome {
	if v == nil {
		return Outcome{Goexit: true}
	}
	return Outcome{Panic: &Panic{Value: v, Stack: debug.Stack()}}
}
