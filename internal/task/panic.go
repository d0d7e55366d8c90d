package task

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
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
	if nested, ok := p.Value.(*PanicError); ok && nested == nil {
		return nil // it has no methods that could be called
	}
	err, _ := p.Value.(error)
	return err
}

// Also returns the errors and panics of the other tasks of the same call, joined,
// or nil, and the panic of a loop body or sequence of the caller's. Only one panic
// can be raised; none is lost. Left out is what tasks returned because they had been
// cancelled: context.Canceled or the cause.
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

// Besides returns those of late that say more than that their task was cancelled: late
// are the errors of tasks that ended after the cancellation, causes what they had from
// context.Cause. It calls methods of late, so the caller holds no lock; a panic in one
// of these is returned behind its error, as a *PanicError of who.
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

// follows reports whether err says no more than causes do, or how that ended if it did
// not return.
func follows(err error, causes []error) (yes bool, o Outcome) {
	returned := false
	defer func() {
		if !returned {
			yes, o = false, Unreturned(recover())
		}
	}()
	yes = isEach(err, causes)
	returned = true
	return yes, o
}

// isEach reports whether err, or each error that it or what it wraps joins, is one of
// targets.
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
