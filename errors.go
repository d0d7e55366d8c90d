package stint

import (
	"errors"
	"fmt"

	"github.com/stint-go/stint/internal/task"
)

// ErrClosed is the error of a task that is given to a closed Pool or a finished Group. It is
// also the error of calls and groups whose pool was shut down before they were done.
var ErrClosed = errors.New("stint: closed")

// ErrBusy is the error of Limiter.TryDo and Limiters.TryDo when they would have to wait for a
// permit.
var ErrBusy = errors.New("stint: busy")

// ErrGoexit is the error of a task that called runtime.Goexit, as testing.T.FailNow does.
var ErrGoexit = task.ErrGoexit

// ItemError is the error of one task under KeepGoing, or of one item of First. Calls and Wait
// join these errors with errors.Join in the order of Index. MapSeq and MapKey yield each in its
// position.
type ItemError struct {
	Index int   // of the item, or of the task in the order of starting; a name of the item belongs in Err
	Err   error // what the task returned, or ErrGoexit
}

// Error returns the index and the text of Err.
func (e *ItemError) Error() string { return fmt.Sprintf("item %d: %v", e.Index, e.Err) }

// Unwrap returns Err.
func (e *ItemError) Unwrap() error { return e.Err }

// PanicError is the value that a call, a loop over its results, or Wait panics with when a task
// has panicked, here and in packages par, stream and errgroup. OnPanic also gets a PanicError.
// Nested calls pass it on and do not wrap it again.
//
// A call panics when its other tasks have finished. If that takes more than a second, or if
// nobody calls Wait, the first panic of the call is also written to standard error, once. The
// text has the stack, and what the panic waits for. A panic of the caller's own loop body or
// sequence is written without its value, which stint does not recover. If a Group or Results
// becomes garbage before Wait has raised its panic, the process crashes with that panic.
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
