// Package task says how a task ended. The public packages turn that into their errors and
// panics.
package task

import (
	"errors"
	"runtime"
	"runtime/debug"
)

// ErrGoexit is stint.ErrGoexit.
var ErrGoexit = errors.New("stint: task called runtime.Goexit")

// Panic is the value a task panicked with, and its stack.
type Panic struct {
	Value any
	Stack []byte // nil if Value is a *PanicError
}

// Outcome is how a task ended that did not return nil. Exactly one field is set.
type Outcome struct {
	Err    error  // it returned this error
	Panic  *Panic // it panicked
	Goexit bool   // it called runtime.Goexit
}

// Failure returns the error of a task that did not panic.
func (o Outcome) Failure() error {
	if o.Goexit {
		return ErrGoexit
	}
	return o.Err
}

// Unreturned returns the outcome of a task that did not return; v is the result of
// recover. The deferred function that called recover must call it once, while the
// stack of the panic is still there. Under GODEBUG=panicnil=1 recover returns nil for
// panic(nil) too: the value is then a *runtime.PanicNilError, as otherwise.
func Unreturned(v any) Outcome {
	if nested, ok := v.(*PanicError); ok && nested != nil { // it has the stack of the task that panicked
		return Outcome{Panic: &Panic{Value: v}}
	}
	if v == nil {
		if !panicking() {
			return Outcome{Goexit: true}
		}
		v = new(runtime.PanicNilError)
	}
	return Outcome{Panic: &Panic{Value: v, Stack: debug.Stack()}}
}

// Guard calls f, and reports whether it has returned. If not, Guard calls failed with its
// outcome, from a deferred function; after a Goexit the goroutine then ends.
func Guard(f func(), failed func(Outcome)) (returned bool) {
	defer func() {
		if !returned {
			failed(Unreturned(recover()))
		}
	}()
	f()
	return true
}

// panicking reports whether a panic, not a Goexit, runs the deferred function that calls
// the caller of panicking: the later of the two is nearest on the stack.
func panicking() bool {
	var pcs [64]uintptr
	for skip := 3; ; skip += len(pcs) {
		n := runtime.Callers(skip, pcs[:])
		frames := runtime.CallersFrames(pcs[:n])
		for more := n > 0; more; {
			var f runtime.Frame
			f, more = frames.Next()
			switch f.Function {
			case "runtime.gopanic":
				return true
			case "runtime.Goexit":
				return false
			}
		}
		if n < len(pcs) {
			return false
		}
	}
}
