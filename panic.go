package stint

import "github.com/stint-go/stint/internal/task"

// PanicError is the value a waiting call panics with when a task has panicked: Each,
// Map, Range, First, EachSeq, MapSeq, Group.Wait, Results.Wait, and the functions of
// packages par and stream. OnPanic gets one too. A PanicError that passes through nested calls
// is not wrapped again.
//
// A call raises a panic when its other tasks have finished. If that takes more than a second,
// or nobody calls Wait, the first panic of the call is written to standard error, once, with
// the stack and what it waits for. It is raised later as usual. A panic of a loop body or a
// sequence of the caller is written without its value, since stint does not recover it. A
// Group or Results that is garbage, with a panic that no Wait has raised, crashes the process
// with that panic.
//
// A PanicError has these fields and methods:
//
//	type PanicError struct {
//		Value any    // what the task panicked with
//		Stack []byte // the stack of the task's goroutine, as debug.Stack returns it
//	}
//	func (p *PanicError) Error() string // the value, the stack, and the text of Also
//	func (p *PanicError) Unwrap() error // Value if it is an error, or nil
//	func (p *PanicError) Also() error   // other errors and panics of the same call, or nil
type PanicError = task.PanicError
