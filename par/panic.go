package par

import (
	"runtime"
	"sync"

	"github.com/stint-go/stint/internal/task"
)

// PanicError is the value a function of this package panics with when a function that it
// was given has panicked. It is the type stint.PanicError, which documents its fields and
// methods. Also returns the panics of other calls of the same loop or sort.
type PanicError = task.PanicError

// A failure collects the calls of one loop or sort that did not return.
type failure struct {
	mu     sync.Mutex
	panics *task.Panics
	goexit bool
}

// add records the outcome of a call that did not return.
func (f *failure) add(o task.Outcome) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if o.Goexit {
		f.goexit = true
	} else {
		f.panics = f.panics.Add(o.Panic.Raised("par: call"), waits)
	}
}

// waits returns what a panic waits for.
func waits() string { return "the call of package par; other goroutines of it run" }

// raise panics or ends the goroutine, as a call did. It returns if every call has returned.
func (f *failure) raise() {
	f.panics.Raise()
	if f.goexit {
		runtime.Goexit()
	}
}

// any reports whether a call did not return.
func (f *failure) any() bool { return f.panics != nil || f.goexit }

// alone calls f on the caller's goroutine and raises its panic outside the deferred
// function: a panic inside one keeps the stack of the panic before it, which takes a
// thousand times as long through a thousand nested calls.
func alone(f func()) {
	var p *PanicError
	returned := false
	defer func() {
		if !returned && p != nil { // the goroutine has ended in f, and f has panicked meanwhile
			panic(p)
		}
	}()
	catch(f, &p)
	returned = true
	if p != nil {
		panic(p)
	}
}

// catch calls f, and sets p to its panic. It does not stop a Goexit, even if a deferred
// function of f panics then.
func catch(f func(), p **PanicError) {
	returned := false
	defer func() {
		if returned {
			return
		}
		if o := task.Unreturned(recover()); o.Panic != nil {
			*p = o.Panic.Raised("par: call")
		}
	}()
	f()
	returned = true
}
