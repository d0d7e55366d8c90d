package par

import (
	"fmt"
	"runtime"
	"sync"

	"github.com/stint-go/stint/internal/task"
)

// PanicError is what the functions of this package panic with when a function
// that they were given has panicked: on whichever goroutine that was, they let the
// other calls return, and raise the panic again in the caller. It is one type with
// that of package stint, and has the fields Value and Stack and the methods Error,
// Unwrap and Also that are described there.
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
		f.panicked = o.Panic.Raised()
	default:
		f.others = append(f.others, o.Panic.Raised())
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

// raise does what add and raise do for the one call that did not return, on the
// caller's own goroutine; v is what recover gave. It does not return.
func raise(v any) {
	if o := task.Unreturned(v); o.Panic != nil {
		panic(o.Panic.Raised())
	}
	runtime.Goexit()
}

// check panics if a function that must be given is nil.
func check(caller, name string, missing bool) {
	if missing {
		panic(fmt.Sprintf("par: %s: %s is nil", caller, name))
	}
}
