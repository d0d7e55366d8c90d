package task

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
)

// Failures are how the tasks of one call, group, run or loop failed. The outcome is the first
// event: the failure of a task, or the end of the context of the tasks. A panic comes before
// any error. Errors after the outcome are late: beside a panic they are told, unless they only
// report the outcome.
//
// The zero Failures is ready for use. Fields may be used once the last task has ended.
type Failures struct {
	Err  error   // the first error, or why the context ended before there was one
	Kept []error // errors that cancelled nothing
	Late []error // errors after the outcome, and of tasks whose context had ended

	mu     sync.Mutex // no method of an error is called with it held
	closed bool       // the outcome is final
	ended  bool       // Err is why the context ended
	panics *panics    // nil: none
}

// panics are the panics of tasks, from the first one on. If it has not been raised after a
// second, it is written to standard error.
type panics struct {
	first *PanicError
	more  []error // later ones, and errors
	alarm *alarm
}

// Fail records the error of a task, and reports whether that is the outcome. ended is why the
// context of the tasks has ended, or nil.
func (f *Failures) Fail(err, ended error) (first bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case f.closed:
	case f.Err == nil && ended == nil:
		f.Err = err
		return f.panics == nil
	default:
		f.endLocked(ended)
		f.Late = append(f.Late, err)
	}
	return false
}

// endLocked records why the context of the tasks ended, unless a task has failed before.
func (f *Failures) endLocked(cause error) {
	if f.Err == nil && cause != nil {
		f.Err, f.ended = cause, true
	}
}

// Keep records the error of a task that cancels nothing. late says that the context of the
// task has ended.
func (f *Failures) Keep(err error, late bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if late {
		f.Late = append(f.Late, err)
	} else {
		f.Kept = append(f.Kept, err)
	}
}

// Panic records the panic of a task, and reports whether it is the first. waits returns which
// call will raise that, and what the call waits for. It is called without locks, and at most
// once: when the panic is written.
func (f *Failures) Panic(p *PanicError, waits func() string) (first bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.panics == nil {
		f.panics = &panics{first: p, alarm: newAlarm(func() { p.write(waits) })}
		return true
	}
	f.besideLocked(p)
	return false
}

// besideLocked adds p, unless it is the first panic, which comes again if it passes through
// the call.
func (f *Failures) besideLocked(p *PanicError) {
	if p != f.panics.first {
		f.panics.more = append(f.panics.more, p)
	}
}

// CrashUnraised makes the process crash with the first panic of f when the owner is garbage
// and nobody has raised it. name is the type of the owner, which others must not refer to.
func CrashUnraised[T any](owner *T, name string, f *Failures) {
	f.mu.Lock()
	p, a := f.panics.first, f.panics.alarm
	f.mu.Unlock()
	runtime.AddCleanup(owner, func(a *alarm) {
		if !a.off.Load() {
			panic(fmt.Errorf("%s was dropped, and nobody called its Wait: %w", name, p))
		}
	}, a)
}

// First returns the first panic and the first error. Each may be nil.
func (f *Failures) First() (p *PanicError, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.panics != nil {
		p = f.panics.first
	}
	return p, f.Err
}

// Panicked reports whether a task has panicked.
func (f *Failures) Panicked() bool {
	p, _ := f.First()
	return p != nil
}

// Close makes the outcome final, after the last task. incomplete is why not all tasks ran, or
// nil: that is the outcome if no task failed.
func (f *Failures) Close(incomplete error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.endLocked(incomplete)
	f.closed = true
}

// TellBeside adds the errors to the panic, if there is one, after the last task: those of
// tasks that were not cancelled, and late ones that do not merely report causes or the outcome.
// It calls methods of late errors, and who names the panic of such a method. If one calls
// Goexit, the panic is raised while the goroutine ends.
func (f *Failures) TellBeside(who string, causes ...error) {
	p, err := f.First()
	if p == nil {
		return
	}
	told, late, returned := f.Kept, f.Late, false
	if err != nil && !f.ended {
		told = append(told, err)
	}
	defer func() {
		f.panics.more = slices.Concat(f.panics.more, told, late)
		if !returned {
			f.Raise()
		}
	}()
	late = Besides(f.Late, who, append(causes, err, p)...)
	returned = true
}

// Raise panics with the first panic, if there is one. Its Also has the later panics, what
// TellBeside added, and others, of which each may be nil.
func (f *Failures) Raise(others ...error) {
	f.mu.Lock()
	ps := f.panics
	if ps == nil {
		f.mu.Unlock()
		return
	}
	ps.first, ps.more = With(ps.first, ps.more), nil
	p := ps.first
	f.mu.Unlock()
	ps.alarm.stop()
	panic(With(p, others))
}

// RaiseBeside is Raise for a caller whose own function did not return, with outcome o: its
// panic, which who names, is in Also.
func (f *Failures) RaiseBeside(o Outcome, who string) {
	if o.Panic != nil {
		f.mu.Lock()
		f.besideLocked(o.Panic.Raised(who))
		f.mu.Unlock()
	}
	f.Raise()
}

// Besides returns the errors of late that do not merely report the cancellation. late are
// the errors of tasks that finished after the cancellation, and causes are the causes that
// their contexts had. Besides calls methods of these errors, so the caller must hold no
// lock. If a method panics, Besides returns a *PanicError of who after that error.
func Besides(late []error, who string, causes ...error) (others []error) {
	causes = append(causes, context.Canceled)
	for _, err := range late {
		reportsCauses := false
		var broken []error
		Guard(func() { reportsCauses = isEach(err, causes) }, func(o Outcome) {
			if o.Panic != nil {
				broken = []error{o.Panic.Raised(who)}
			}
		})
		if !reportsCauses {
			others = append(append(others, err), broken...)
		}
	}
	return others
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
