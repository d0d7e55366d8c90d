package task

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
)

// PanicError is what the public packages panic with: each gives it its name there,
// and says when. It is one type, so that who recovers does not have to know which
// of them the task ran in, and a panic that passes through several is told from
// others by none of them.
type PanicError struct {
	Value any    // what the task panicked with
	Stack []byte // the stack of the task's goroutine at the panic, as debug.Stack prints it

	who  string
	also error
}

// Error returns the value, the stack, and what else went wrong in the same call.
func (p *PanicError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s panicked: %v\n\n%s", cmp.Or(p.who, "stint: task"), p.Value, p.Stack)
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

// Raised returns what the one who waits panics with: a new PanicError that says who
// has panicked, or the one that a nested call raised.
func (p *Panic) Raised(who string) *PanicError {
	if nested, ok := p.Value.(*PanicError); ok && nested != nil {
		return nested
	}
	return &PanicError{Value: p.Value, Stack: p.Stack, who: who}
}

// With returns p, or a copy that tells of others too.
func With(p *PanicError, others []error) *PanicError {
	if len(others) == 0 {
		return p
	}
	q := *p
	q.also = errors.Join(append([]error{p.also}, others...)...)
	return &q
}
