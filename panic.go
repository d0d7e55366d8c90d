package stint

import "github.com/stint-go/stint/internal/task"

// PanicError is a panic of a task, as the one who waits for the task gets it: Each,
// Map, Range, EachSeq, MapSeq, Group.Wait and Results.Wait panic with a
// *PanicError, and so do the terminals of package stream; OnPanic is called with
// one. It is an error, so that code which recovers can pass it on. A PanicError
// that goes through several nested calls stays the first one. The functions of
// package par panic with the same type.
//
// It is a struct with two fields and three methods:
//
//	type PanicError struct {
//		Value any    // what the task panicked with
//		Stack []byte // the stack of the task's goroutine at the panic, as debug.Stack prints it
//	}
//
//	// Error returns the value, the stack, and what else went wrong in the same call.
//	func (p *PanicError) Error() string
//
//	// Unwrap returns Value if it is an error, and nil otherwise.
//	func (p *PanicError) Unwrap() error
//
//	// Also returns the errors and panics of the other tasks of the same call,
//	// joined, or nil, and the panic of a loop body or sequence of the caller's.
//	// Only one panic can be raised; none is lost. Left out is what tasks returned
//	// because they had been cancelled: context.Canceled or the cause.
//	func (p *PanicError) Also() error
type PanicError = task.PanicError
