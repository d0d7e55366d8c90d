package stint

import (
	"context"

	"github.com/stint-go/stint/internal/limit"
)

// Do calls f on the caller's goroutine with a permit of l, for work that stint does not
// start, such as the handling of a request. It waits for the permit, first come, first
// served, together with the calls, groups and pools on l. If ctx ends first, or has ended,
// Do returns its cause without calling f. Otherwise it returns the error of f. A panic of f
// and runtime.Goexit pass through, and return the permit.
//
// f gets ctx with the permit: calls that f makes with that context, and waits for, run on the
// permit, as in a task. A call with another context waits for a permit of its own, and
// deadlocks if the goroutines that hold all permits do so. A call with that context on another
// goroutine may run beside f, one more than the limit. An adaptive limit counts a call of f as
// a task.
func (l *Limiter) Do(ctx context.Context, f func(context.Context) error) error {
	checkArgs("Limiter.Do", ctx, f == nil)
	l.check("Limiter.Do")
	a, err := l.core().Admit(ctx)
	if err != nil {
		return err
	}
	return run(a, f)
}

// TryDo calls f as Do does if a permit is free and nothing waits for one. Otherwise it
// returns ErrBusy at once. If ctx has ended, TryDo returns its cause. An adaptive limit rises
// after refusals as it does while tasks wait; Burst sets where it starts.
func (l *Limiter) TryDo(ctx context.Context, f func(context.Context) error) error {
	checkArgs("Limiter.TryDo", ctx, f == nil)
	l.check("Limiter.TryDo")
	a, err := admitFree(l.core(), ctx)
	if err != nil {
		return err
	}
	return run(a, f)
}

// admitFree takes a permit of l, or returns ErrBusy.
func admitFree(l *limit.Limiter, ctx context.Context) (limit.Admission, error) {
	if ctx.Err() != nil {
		return limit.Admission{}, context.Cause(ctx)
	}
	a, ok := l.AdmitFree(ctx)
	if !ok {
		l.Refused()
		return limit.Admission{}, ErrBusy
	}
	return a, nil
}

// run calls f with the permit of a.
func run(a limit.Admission, f func(context.Context) error) error {
	failed := true // unless f returns
	defer func() { a.Release(failed) }()
	err := f(a.Context())
	if err != nil {
		a.Failed(err)
	} else {
		failed = false
	}
	return err
}
