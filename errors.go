package stint

import (
	"errors"
	"fmt"

	"github.com/stint-go/stint/internal/task"
)

// ErrClosed is the error of a task that a closed Pool or a finished Group does not
// accept, and of calls and groups whose pool was shut down before they were done.
var ErrClosed = errors.New("stint: closed")

// ErrBusy is the error of Limiter.TryDo when it would have to wait.
var ErrBusy = errors.New("stint: busy")

// ErrGoexit is the error of a task that called runtime.Goexit, as testing.T.FailNow does.
var ErrGoexit = task.ErrGoexit

// ItemError is the error of one task under KeepGoing, and of one item of First. They are
// joined with errors.Join in the order of Index; MapSeq and MapKey yield each in its position.
type ItemError struct {
	Index int   // of the item, or of the task in the order of starting; what else names it belongs in Err
	Err   error // what the task returned, or ErrGoexit
}

// Error returns the index and the text of Err.
func (e *ItemError) Error() string { return fmt.Sprintf("item %d: %v", e.Index, e.Err) }

// Unwrap returns Err.
func (e *ItemError) Unwrap() error { return e.Err }

// PanicError is the value that a call, a loop over its results, or Wait panics with when a task
// has panicked, here and in packages par, stream and errgroup. OnPanic gets one too. A PanicError
// that passes through nested calls is not wrapped again.
//
// A call raises a panic when its other tasks have finished. If that takes more than a second,
// or nobody calls Wait, the first panic of the call is also written to standard error, once,
// with the stack and what it waits for. A panic of a loop body or a sequence of the caller is
// written without its value, since stint does not recover it. A Group or Results that is
// garbage, with a panic that no Wait has raised, crashes the process with that panic.
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
