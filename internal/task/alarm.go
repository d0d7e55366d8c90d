package task

import (
	"fmt"
	"os"
	"runtime/debug"
	"sync/atomic"
	"time"
)

// writeAfter is how long a panic waits to be raised before it is written.
const writeAfter = time.Second

// A Passage is a panic on its way through a deferred function that waits for tasks, and does
// not recover it. It is written to standard error as a panic of a task is. A nil Passage is
// none.
type Passage struct{ alarm *alarm }

// Passing returns the panic that runs the deferred function that calls Passing, or nil if it
// is a Goexit. End must be called after the wait. waits is as in Failures.Panic. The text has
// no value: only recover returns it, which would change the panic.
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
type alarm struct {
	timer *time.Timer
	due   time.Time
	ring  atomic.Pointer[func()] // nil once the timer or stop has taken it: it refers to the owner
	off   atomic.Bool            // stop has been called
}

func newAlarm(ring func()) *alarm {
	a := &alarm{due: time.Now().Add(writeAfter)}
	a.ring.Store(&ring)
	a.timer = time.AfterFunc(writeAfter, func() {
		if ring := a.ring.Swap(nil); ring != nil {
			(*ring)()
		}
	})
	return a
}

// stop turns the alarm off, and reports whether it was on and its function has not been called. It
// does not wait for the function, which calls methods of the caller's: they may take a lock that
// is held here. The timer of another synctest bubble, which must not be touched here, expires and
// finds no function.
func (a *alarm) stop() (silent bool) {
	a.off.Store(true)
	if a.ring.Swap(nil) == nil {
		return false
	}
	if time.Since(a.due).Abs() <= 2*writeAfter { // by the clock of this goroutine; or it has long expired
		a.timer.Stop()
	}
	return true
}
