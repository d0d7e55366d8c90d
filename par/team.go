package par

import (
	"sync"
	"sync/atomic"

	"github.com/stint-go/stint/internal/task"
)

// A team is the goroutines that sort one slice: the caller's, and at most one for each
// further CPU. A part that is worthwhile is forked if a CPU is idle, and otherwise done by
// the goroutine at hand, so there is no queue.
type team struct {
	idle    atomic.Int32 // CPUs that no goroutine of the team uses
	members sync.WaitGroup
	stopped atomic.Bool // a function of the user did not return: no part starts
	failure failure
}

// newTeam returns a team for procs CPUs, with that of the caller.
func newTeam(procs int) *team {
	t := new(team)
	t.idle.Store(int32(procs) - 1)
	return t
}

// run calls f on the caller's goroutine, waits for everything that was forked, and panics
// or ends the goroutine if a function of the user did.
func (t *team) run(f func()) {
	defer func() { // of a Goexit, too
		t.idle.Add(1) // while this one waits
		t.members.Wait()
		t.failure.raise()
	}()
	t.try(f)
}

// free reports whether fork may find an idle CPU. A caller that asks first need not make a
// closure that is not used.
func (t *team) free() bool { return t.idle.Load() > 0 }

// fork calls f on a new goroutine if a CPU is idle, and reports whether it does.
func (t *team) fork(f func()) bool {
	for {
		n := t.idle.Load()
		if n <= 0 || t.stopped.Load() {
			return false
		}
		if t.idle.CompareAndSwap(n, n-1) {
			break
		}
	}
	t.members.Add(1)
	go func() {
		defer func() {
			t.idle.Add(1)
			t.members.Done()
		}()
		t.try(f)
	}()
	return true
}

// both calls f and g, concurrently if a CPU is idle, and waits for both. It reports whether
// the team continues: if a user's function did not return, f and g may have ended early.
func (t *team) both(f, g func()) bool {
	var done chan struct{}
	if t.free() {
		done = make(chan struct{})
	}
	if done == nil || !t.fork(func() { defer close(done); t.try(g) }) {
		f()
		g()
		return !t.stopped.Load()
	}
	func() {
		defer func() {
			t.idle.Add(1) // while this one waits
			<-done
			t.idle.Add(-1)
		}()
		t.try(f)
	}()
	return !t.stopped.Load()
}

// try calls f on a goroutine of the team. If f does not return, it stops the team and records
// the outcome, before another goroutine waits for this one or continues after it. It
// recovers a panic; a Goexit continues.
func (t *team) try(f func()) {
	returned := false
	defer func() {
		if !returned {
			t.stopped.Store(true)
			t.failure.add(task.Unreturned(recover()))
		}
	}()
	f()
	returned = true
}
