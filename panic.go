package stint

import (
	"errors"
	"fmt"
	"strings"

	"github.com/stint-go/stint/internal/task"
)

// PanicError is a panic of a task, as the one who waits for the task gets it:
// Each, Map, Range, EachSeq, MapSeq, Group.Wait and Results.Wait panic with a
// *PanicError, and OnPanic is called with one. It is an error, so that code which
// recovers can pass it on. A PanicError that goes through several nested calls
// stays the first one.
type PanicError struct {
	Value any    // what the task panicked with
	Stack []byte // the stack of the task's goroutine at the panic, as debug.Stack prints it

	also error
}

// Error returns the value, the stack, and what else went wrong in the same call.
func (p *PanicError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "stint: task panicked: %v\n\n%s", p.Value, p.Stack)
	if p.also != nil {
		fmt.Fprintf(&b, "\nand in the same call:\n%v\n", p.also)
	}
	return b.String()
}

// Unwrap returns Value if it is an error, and nil otherwise.
func (p *PanicError) Unwrap() error {
	err, _ := p.Value.(error)
	return err
}

// Also returns the errors and panics of the other tasks of the same call, joined,
// or nil. Only one panic can be raised; none is lost. What tasks returned because
// the panic had cancelled them is left out.
func (p *PanicError) Also() error { return p.also }

// newPanicError makes a PanicError, or passes on the one that a nested call
// raised.
func newPanicError(p *task.Panic) *PanicError {
	if nested, ok := p.Value.(*PanicError); ok && nested != nil {
		return nested
	}
	return &PanicError{Value: p.Value, Stack: p.Stack}
}

// with returns p, or a copy that tells of others too.
func (p *PanicError) with(others []error) *PanicError {
	if len(others) == 0 {
		return p
	}
	q := *p
	q.also = errors.Join(append([]error{p.also}, others...)...)
	return &q
}
