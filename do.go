package stint

import (
	"context"

	"github.com/stint-go/stint/internal/limit"
)

// Do calls f on the caller's goroutine with a permit of l. It is for work that stint does not
// start, such as the handling of a request. Do waits for the permit, first come, first served,
// together with the calls, groups and pools on l. If ctx ends before f starts, Do returns the
// cause of ctx without calling f. Otherwise it returns the error of f. A panic of f and
// runtime.Goexit in f pass through Do, which returns the permit.
//
// f gets a context made from ctx that has the permit. Calls on l that f makes with that
// context, and waits for, use the permit, as in a task. A call on l with another context waits
// for a second permit: if all goroutines that hold a permit wait so, they deadlock. If another
// goroutine makes a call with the context of f while f runs, one call more than the limit may
// run. An adaptive limit counts a call of f as a task.
func (l *Limiter) Do(ctx context.Context, f func(context.Context) error) error {
	checkArgs("Limiter.Do", ctx, f == nil)
	l.check("Limiter.Do")
	a, err := l.core().Admit(ctx)
	if err != nil {
		return err
	}
	return run(a, f)
}

// TryDo calls f as Do does if a permit is free and nothing waits for one. Otherwise it returns
// ErrBusy at once. If ctx has ended, TryDo returns its cause. A refused call makes an adaptive
// limit rise as a waiting task does. Burst sets how high the limit is at the start.
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
