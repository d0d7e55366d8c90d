package par

import (
	"sync"
	"sync/atomic"

	"github.com/stint-go/stint/internal/task"
)

// A team is the goroutines that sort one slice: the caller's, and one for each
// further processor while there is something for it. A part that is worth it is
// forked when a processor is idle, and otherwise done by the goroutine at hand; so
// there is no queue, and nobody waits for work.
type team struct {
	idle    atomic.Int32 // processors that no goroutine of the team uses
	members sync.WaitGroup
	stopped atomic.Bool // a function of the user did not return: no part is begun
	failure failure
}

// newTeam returns a team for so many processors, that of the caller among them.
func newTeam(procs int) *team {
	t := new(team)
	t.idle.Store(int32(procs) - 1)
	return t
}

// run calls f on the caller's goroutine, waits for everything that was forked
// meanwhile, and raises what a function of the user did instead of returning.
func (t *team) run(f func()) {
	defer func() { // of a Goexit, too
		t.idle.Add(1) // while this one waits
		t.members.Wait()
		t.failure.raise()
	}()
	t.try(f)
}

// free reports whether fork may find an idle processor: whoever asks first need not
// make a function that is not used.
func (t *team) free() bool { return t.idle.Load() > 0 }

// fork calls f on a goroutine of its own, if a processor is idle, and reports
// whether it does.
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

// both calls f and g, at the same time if a processor is idle, and returns when
// both have ended, however they did. It reports whether the team goes on; when a
// call did not return, what f and g were to do may be done in part.
func (t *team) both(f, g func()) bool {
	var done chan struct{}
	if t.free() {
		done = make(chan struct{})
	}
	if done == nil || !t.fork(func() { defer close(done); t.call(g) }) {
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
		t.call(f)
	}()
	return !t.stopped.Load()
}

// call calls f, and stops the team if it does not return: before anybody waits for
// the other side, or goes on because this one has ended. How it ended is noted at
// the end of its goroutine.
func (t *team) call(f func()) {
	returned := false
	defer func() {
		if !returned {
			t.stopped.Store(true)
		}
	}()
	f()
	returned = true
}

// try calls f, which is all that a goroutine of the team does, and takes in how it ended
// if it does not return. A panic ends here, a Goexit goes on.
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
