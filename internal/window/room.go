package window

import (
	"math"

	"github.com/stint-go/stint/internal/auto"
	"github.com/stint-go/stint/internal/limit"
)

// maxLimit is a limit that no process reaches.
const maxLimit = 1 << 24

// A room is the items in progress, which are admitted and not released, and the feeder that
// waits for them.
type room struct {
	admitted int
	waiting  bool          // the feeder, for vacant
	vacant   chan struct{} // has a value when the feeder should look again
	demand   auto.Demand   // of the feeder
	watcher  limit.Watcher // for vacant
}

// Admit waits until one more item may be in progress. It reports false when done is closed.
func (w *Window[T, R]) Admit(done <-chan struct{}) bool {
	for !w.admit() {
		select {
		case <-w.room.vacant:
		case <-done:
			w.mu.Lock()
			defer w.mu.Unlock()
			w.setWaitingLocked(false)
			return false
		}
	}
	return true
}

// admit admits an item, or reports false: then the feeder waits.
func (w *Window[T, R]) admit() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	ok := w.room.admitted < w.size()
	w.setWaitingLocked(!ok)
	if ok {
		w.room.admitted++
	}
	return ok
}

// Release frees the room of a task that Next has returned.
func (w *Window[T, R]) Release() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.room.admitted--
	if !w.room.waiting || w.room.admitted >= w.size() {
		return
	}
	w.setWaitingLocked(false)
	select {
	case w.room.vacant <- struct{}{}:
	default: // it looks already
	}
}

// setWaitingLocked records whether the feeder waits.
func (w *Window[T, R]) setWaitingLocked(waiting bool) {
	w.room.waiting = waiting
	if w.Queue >= 0 {
		w.room.demand.Wait(w.Executor.Limiter().NeedController(), waiting, w.Queue, w.limit())
	}
}

// limit is 1 during a pause: the task that makes the call lends its permit.
func (w *Window[T, R]) limit() int { return min(max(1, w.Executor.Limiter().Bound()), maxLimit) }

// size returns how many items may be in progress.
func (w *Window[T, R]) size() int {
	if w.Queue < 0 {
		return 2 * w.limit()
	}
	return w.limit() + min(w.Queue, math.MaxInt32-maxLimit)
}
