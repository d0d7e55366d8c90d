package task

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"sync"
	"time"
)

// writeAfter is how long a panic waits to be raised before it is written.
const writeAfter = time.Second

// Panics are the panics of the tasks of one call, group or run, from the first one on. The
// owner raises them when its last task has ended. If it has not done so a second after the
// first panic, that one is written to standard error. A nil *Panics has no panic. The lock of
// the owner guards a Panics until the last task has ended.
type Panics struct {
	first *PanicError
	more  []error // later ones
	alarm *alarm
}

// Add returns ps with p, or a new Panics. waits returns which call will raise the first panic,
// and when. It is called without locks, and at most once: when the panic is written.
func (ps *Panics) Add(p *PanicError, waits func() string) *Panics {
	switch {
	case ps == nil:
		return &Panics{first: p, alarm: newAlarm(func() { p.write(waits) })}
	case p != ps.first: // which may come again on its way through the call
		ps.more = append(ps.more, p)
	}
	return ps
}

// First returns the first panic, or nil.
func (ps *Panics) First() *PanicError {
	if ps == nil {
		return nil
	}
	return ps.first
}

// Beside adds others to what Also returns for the panic that is raised, after the later
// panics.
func (ps *Panics) Beside(others ...error) { ps.more = append(ps.more, others...) }

// Raise panics with the first panic, unless ps is nil. Its Also has the later panics, what
// Beside added, and others.
func (ps *Panics) Raise(others ...error) {
	if ps == nil {
		return
	}
	ps.alarm.stop()
	ps.first, ps.more = With(ps.first, ps.more), nil
	panic(With(ps.first, others))
}

// CrashUnraised makes the process crash with the first panic of ps when the owner is garbage
// and nobody has raised it. name is the type of the owner, which others must not refer to.
func CrashUnraised[T any](owner *T, name string, ps *Panics) {
	p, a := ps.first, ps.alarm
	runtime.AddCleanup(owner, func(a *alarm) {
		if a.isOn() {
			panic(fmt.Errorf("%s was dropped, and nobody called its Wait: %w", name, p))
		}
	}, a)
}

// A Passage is a panic on its way through a deferred function that waits for tasks, and does
// not recover it. It is written to standard error as a panic of a task is. A nil Passage is
// none.
type Passage struct{ alarm *alarm }

// Passing returns the panic that runs the deferred function that calls Passing, or nil if it
// is a Goexit. End must be called after the wait. waits is as in Add. The text has no value:
// only recover returns it, which would change the panic.
func Passing(waits func() string) *Passage {
	if !panicking() {
		return nil
	}
	stack := debug.Stack()
	return &Passage{newAlarm(func() {
		fmt.Fprintf(os.Stderr, "stint: a panic that passes through %s\n\n%s\n", waits(), stack)
	})}
}

// End ends the passage. If p is not nil, the panic has become p, which is not written again.
func (g *Passage) End(p *PanicError) {
	if g != nil && !g.alarm.stop() && p != nil && p.written != nil {
		p.written.Store(true)
	}
}

// write writes p to standard error, unless it has been written.
func (p *PanicError) write(waits func() string) {
	if p.written == nil || p.written.CompareAndSwap(false, true) {
		fmt.Fprintf(os.Stderr, "stint: a panic that will be raised by %s\n%v\n", waits(), p)
	}
}

// An alarm calls a function after writeAfter, on a goroutine of its own, unless it is stopped.
//
//	on    newAlarm
//	rung  by the timer: the function is called. It is still on for isOn.
//	off   stop
type alarm struct {
	timer *time.Timer
	due   time.Time

	mu   sync.Mutex
	on   bool
	rung bool
	ring func() // nil unless on and not rung: it refers to the owner
}

func newAlarm(ring func()) *alarm {
	a := &alarm{due: time.Now().Add(writeAfter), on: true, ring: ring}
	a.timer = time.AfterFunc(writeAfter, a.expire)
	return a
}

// expire is called by the timer.
func (a *alarm) expire() {
	a.mu.Lock()
	ring := a.ring
	a.ring, a.rung = nil, ring != nil
	a.mu.Unlock()
	if ring != nil {
		ring()
	}
}

// stop turns the alarm off, and reports whether its function has not been called. It does not
// wait for the function, which calls methods of the caller's: they may take a lock that is held
// here. Later calls change nothing. The timer of another synctest bubble, which must not be
// touched here, expires and finds the alarm off.
func (a *alarm) stop() (silent bool) {
	a.mu.Lock()
	stopped, rung := !a.on, a.rung
	a.on, a.ring = false, nil
	a.mu.Unlock()
	here := time.Since(a.due).Abs() <= 2*writeAfter // the clock of this goroutine; or it has long expired
	if !stopped && here {
		a.timer.Stop()
	}
	return !rung
}

func (a *alarm) isOn() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.on
}
