package task

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
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

// With returns p, or a copy whose Also has others too.
func With(p *PanicError, others []error) *PanicError {
	if len(others) == 0 {
		return p
	}
	q := *p
	q.also = errors.Join(append([]error{p.also}, others...)...)
	return &q
}

// Besides returns the errors of late that do not merely report the cancellation. late are
// the errors of tasks that finished after the cancellation, and causes are the causes that
// their contexts had. Besides calls methods of these errors, so the caller must hold no
// lock. If a method panics, Besides returns a *PanicError of who after that error.
func Besides(late []error, who string, causes ...error) (others []error) {
	causes = append(causes, context.Canceled)
	for _, err := range late {
		consequence, o := follows(err, causes)
		if !consequence {
			others = append(others, err)
		}
		if o.Panic != nil {
			others = append(others, o.Panic.Raised(who))
		}
	}
	return others
}

// follows reports whether err reports nothing but causes. o is the outcome of a method of
// err that did not return.
func follows(err error, causes []error) (yes bool, o Outcome) {
	Guard(func() { yes = isEach(err, causes) }, func(broken Outcome) { yes, o = false, broken })
	return yes, o
}

// isEach reports whether err, or each error that it or the error it wraps joins, is
// one of targets.
func isEach(err error, targets []error) bool {
	switch wrapping := err.(type) {
	case interface{ Unwrap() []error }:
		return !slices.ContainsFunc(wrapping.Unwrap(), func(e error) bool { return e != nil && !isEach(e, targets) })
	case interface{ Unwrap() error }:
		if inner := wrapping.Unwrap(); inner != nil && !slices.Contains(targets, err) {
			return isEach(inner, targets)
		}
	}
	return slices.ContainsFunc(targets, func(target error) bool {
		return target != nil && errors.Is(err, target)
	})
}
