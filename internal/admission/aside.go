package admission

import (
	"time"

	"github.com/stint-go/stint/internal/limit"
	"github.com/stint-go/stint/internal/race"
)

// In programs built with -race, the functions below use the limiter on a goroutine aside,
// so that its locks and counters do not order the callers: see race.Aside. They must not
// touch memory of the caller. A call in a task that holds a permit of the same limiter is
// made as in other programs, since it may borrow the permit.

// holds reports whether a task around the call holds a permit of l.
func holds(call *limit.Scope, l *limit.Limiter) bool {
	held, _ := call.On(l)
	return held != nil
}

// acquireAside waits for a permit, until done is closed.
func acquireAside(l *limit.Limiter, low bool, done <-chan struct{}) bool {
	return race.Aside(func() bool {
		l.Made.Acquire()
		if l.TryAcquire() {
			return true
		}
		_, ok := l.AcquireAs(low, false, done, nil, nil, nil)
		return ok
	})
}

func tryAside(l *limit.Limiter) bool {
	return race.Aside(func() bool {
		l.Made.Acquire()
		return l.TryAcquire()
	})
}

// releaseAside returns a permit and counts a finished task.
func releaseAside(l *limit.Limiter, since time.Duration, failed bool) {
	race.Aside(func() bool {
		l.Made.Acquire()
		count(l, since, failed)
		grant(l.Free(limit.Permit{}))
		return true
	})
}
