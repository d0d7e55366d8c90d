package task

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
)

// PanicError is declared here so that all public packages share one type; package
// stint documents it.
type PanicError struct {
	Value any    // what the task panicked with
	Stack []byte // the stack of the task's goroutine at the panic, as debug.Stack prints it

	who     string
	also    error
	written *atomic.Bool // to standard error; copies share it
}

// Error returns the value, the stack, and the text of Also.
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
	if nested, ok := p.Value.(*PanicError); ok && nested == nil {
		return nil // its methods would crash
	}
	err, _ := p.Value.(error)
	return err
}

// Also returns the errors and panics of the other tasks of the same call, joined, or nil,
// and the panic of a loop body or sequence of the caller. Errors that tasks returned
// because they had been cancelled are left out: context.Canceled or the cause.
func (p *PanicError) Also() error { return p.also }

// Raised returns the PanicError for p, whose text names who, or the PanicError that a
// nested call raised.
func (p *Panic) Raised(who string) *PanicError {
	if nested, ok := p.Value.(*PanicError); ok && nested != nil {
		return nested
	}
	return &PanicError{Value: p.Value, Stack: p.Stack, who: who, written: new(atomic.Bool)}
}

// With returns p, or a copy whose Also has others too, of which each may be nil.
func With(p *PanicError, others []error) *PanicError {
	if errors.Join(others...) == nil {
		return p
	}
	q := *p
	q.also = errors.Join(append([]error{p.also}, others...)...)
	return &q
}
