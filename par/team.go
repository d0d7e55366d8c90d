package par

import (
	"sync/atomic"

	"github.com/stint-go/stint/internal/task"
)

// A team is the goroutines that sort one slice: the caller's, and at most one for each
// further CPU. The two sides of a slice are sorted concurrently if a CPU is idle, and
// otherwise one after the other, so there is no queue.
type team struct {
	idle    atomic.Int32 // CPUs that no goroutine of the team uses
	failure failure
}

// newTeam returns a team for procs CPUs, with that of the caller.
func newTeam(procs int) *team {
	t := new(team)
	t.idle.Store(int32(procs) - 1)
	return t
}

// run calls f on the caller's goroutine, and panics or ends the goroutine if a function of
// the user did.
func (t *team) run(f func()) {
	defer t.failure.raise() // of a Goexit, too
	t.try(f)
}

// free reports whether a CPU is idle.
func (t *team) free() bool { return t.idle.Load() > 0 }

// take takes an idle CPU.
func (t *team) take() bool {
	for n := t.idle.Load(); n > 0; n = t.idle.Load() {
		if t.idle.CompareAndSwap(n, n-1) {
			return true
		}
	}
	return false
}

// stopped reports whether a function of the user did not return: no part starts.
func (t *team) stopped() bool {
	p, err := t.failure.First()
	return p != nil || err != nil
}

// both calls f and g, concurrently if a CPU is idle, and returns when both have ended. It
// reports whether the team goes on. If not, f and g may have ended early.
func (t *team) both(f, g func()) bool {
	switch {
	case t.stopped():
	case t.take():
		t.fork(f, g)
	default:
		f()
		if !t.stopped() {
			g()
		}
	}
	return !t.stopped()
}

// fork calls f, and g on a new goroutine. The first of the two gives its CPU back, and the
// caller goes on with that of the other one.
func (t *team) fork(f, g func()) {
	var left atomic.Bool
	leave := func() {
		if !left.Swap(true) {
			t.idle.Add(1)
		}
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer leave()
		t.try(g)
	}()
	defer func() { // of a Goexit, too
		leave()
		<-done
	}()
	t.try(f)
}

// try calls f. If f does not return, try records the outcome before another goroutine goes
// on. It recovers a panic; a Goexit continues.
func (t *team) try(f func()) { task.Guard(f, t.failure.add) }
