// Package task names the facts about how a task ended. The public packages
// turn them into their own errors and panics.
package task

import (
	"runtime"
	"runtime/debug"
)

// Panic is what a task panicked with, and the stack it had then.
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

// Unreturned is the outcome of a task that did not return; v is what recover
// gave. It must be called by the deferred function that called recover, once, while
// the stack of the panic is still there. Under GODEBUG=panicnil=1 recover gives nil for
// panic(nil) too: then the panic has the value that it has otherwise, a
// *runtime.PanicNilError.
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

// panicking reports whether a panic runs the deferred function that calls the caller
// of panicking, and not Goexit: the last of the two that began is nearest on the stack.
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
