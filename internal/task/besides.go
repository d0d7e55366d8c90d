package task

import (
	"context"
	"errors"
	"slices"
)

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
