package par

import (
	"fmt"
	"runtime"

	"github.com/stint-go/stint/internal/task"
)

// A failure collects the calls of one loop or sort that did not return.
type failure struct{ task.Failures }

// who names a call in a PanicError.
const who = "par: call"

// add records the outcome of a call that did not return.
func (f *failure) add(o task.Outcome) {
	if o.Panic != nil {
		f.Panic(o.Panic.Raised(who), waits)
	} else {
		f.Fail(o.Failure(), nil)
	}
}

// waits returns what a panic waits for.
func waits() string { return "the call of package par; other goroutines of it run" }

// raise panics or ends the goroutine, as a call did. It returns if every call has returned.
func (f *failure) raise() {
	f.Raise()
	if f.Err != nil {
		runtime.Goexit()
	}
}

// alone calls f on the caller's goroutine and raises its panic outside the deferred
// function: a panic inside one keeps the stack of the panic before it, which takes a
// thousand times as long through a thousand nested calls.
func alone(f func()) {
	var p *task.PanicError
	defer func() { // of a Goexit, too
		if p != nil {
			panic(p)
		}
	}()
	task.Guard(f, func(o task.Outcome) {
		if o.Panic != nil {
			p = o.Panic.Raised(who)
		}
	})
}

// check panics if a function that must be given is nil.
func check(caller, name string, missing bool) {
	if missing {
		panic(fmt.Sprintf("par: %s: %s is nil", caller, name))
	}
}
