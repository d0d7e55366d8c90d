package stint

import "github.com/stint-go/stint/internal/task"

// PanicError is the value a waiting call panics with when a task has panicked: Each,
// Map, Range, First, EachSeq, MapSeq, Group.Wait, Results.Wait, and the functions of
// packages par and stream. OnPanic gets one too. A PanicError that passes through nested calls
// is not wrapped again. It has these fields and methods:
//
//	type PanicError struct {
//		Value any    // what the task panicked with
//		Stack []byte // the stack of the task's goroutine, as debug.Stack returns it
//	}
//	func (p *PanicError) Error() string // the value, the stack, and the text of Also
//	func (p *PanicError) Unwrap() error // Value if it is an error, or nil
//	func (p *PanicError) Also() error   // other errors and panics of the same call, or nil
type PanicError = task.PanicError
