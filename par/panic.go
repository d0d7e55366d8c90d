package par

import (
	"runtime"
	"sync"

	"github.com/stint-go/stint/internal/task"
)

// PanicError is what the functions of this package panic with when a function
// that they were given has panicked: on whichever goroutine that was, they let the
// other calls return, and raise the panic again in the caller. A PanicError that goes
// through several nested calls stays the first one. It is one type with that of
// package stint, a struct with two fields and three methods:
//
//	type PanicError struct {
//		Value any    // what the function panicked with
//		Stack []byte // the stack of its goroutine at the panic, as debug.Stack prints it
//	}
//
//	// Error returns the value, the stack, and what else went wrong in the same call.
//	func (p *PanicError) Error() string
//
//	// Unwrap returns Value if it is an error, and nil otherwise.
//	func (p *PanicError) Unwrap() error
//
//	// Also returns the panics of other calls of the same loop or sort, joined, or
//	// nil. Only one panic can be raised; none is lost.
//	func (p *PanicError) Also() error
type PanicError = task.PanicError

// A failure collects the calls of one loop or sort that did not return. Its zero
// value is one without any.
type failure struct {
	mu       sync.Mutex
	panicked *PanicError
	others   []error
	goexit   bool
}

// add takes in one of them.
func (f *failure) add(o task.Outcome) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case o.Goexit:
		f.goexit = true
	case f.panicked == nil:
		f.panicked = o.Panic.Raised("par: call")
	default:
		f.others = append(f.others, o.Panic.Raised("par: call"))
	}
}

// raise does to the caller what was done to a call: it panics or ends the
// goroutine. It returns if every call has returned.
func (f *failure) raise() {
	if f.panicked != nil {
		panic(task.With(f.panicked, f.others))
	}
	if f.goexit {
		runtime.Goexit()
	}
}

// any reports whether a call did not return.
func (f *failure) any() bool { return f.panicked != nil || f.goexit }

// alone calls f on the caller's own goroutine and raises what a function of the user
// did instead of returning. It does so when the deferred function has returned: a panic
// that begins in one stands on the stack of the panic before it, and through a thousand
// nested calls that takes a thousand times as long.
func alone(f func()) {
	if p := panicOf(f); p != nil {
		panic(p)
	}
}

// panicOf calls f and returns its panic, or nil. A Goexit goes on.
func panicOf(f func()) (p *PanicError) {
	returned := false
	defer func() {
		if returned {
			return
		}
		if o := task.Unreturned(recover()); o.Panic != nil {
			p = o.Panic.Raised("par: call")
		}
	}()
	f()
	returned = true
	return nil
}
