package window

import (
	"math"
	"time"

	"github.com/stint-go/stint/internal/auto"
	"github.com/stint-go/stint/internal/limit"
)

// The number of items of short calls that are admitted in addition to one task for each
// worker. Short calls keep all CPUs busy, and the goroutines that pass on items seldom run.
const (
	reserveTime  = 4 * time.Millisecond
	reserveBytes = 256 << 10 // of items and results
	reserveTasks = 16        // even if they take longer, or are larger
)

// parts is how many times a feeder that takes several items at once fills the room.
const parts = 4

// maxLimit is a limit that no process reaches.
const maxLimit = 1 << 24

// A room is the items in progress, which are admitted and not released, and the feeder that
// waits for them.
type room struct {
	reserve  int64 // items of short calls that may be admitted, at most
	admitted int
	waiting  bool          // the feeder, for vacant
	vacant   chan struct{} // has a value when the feeder should look again
	demand   auto.Demand   // of the feeder
	watcher  limit.Watcher // for vacant
}

// Admit waits for room, until done is closed: then it reports false. It returns the number of
// items that are admitted, MaxSize at most. It calls before before it waits.
func (w *Window[T, R]) Admit(done <-chan struct{}, before func()) (n int, ok bool) {
	for {
		if n := w.admit(); n > 0 {
			return n, true
		}
		before()
		select {
		case <-w.room.vacant:
		case <-done:
			w.mu.Lock()
			defer w.mu.Unlock()
			w.setWaitingLocked(false)
			return 0, false
		}
	}
}

// admit admits items if there is room, and returns their number. Otherwise the feeder waits.
func (w *Window[T, R]) admit() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	size := w.size()
	n := min(max(size/parts, 1), w.MaxSize, size-w.room.admitted)
	if n < w.least(size) {
		n = 0
	}
	w.setWaitingLocked(n == 0)
	w.room.admitted += n
	return n
}

// vacate makes room for n items.
func (w *Window[T, R]) vacate(n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.room.admitted -= n
	w.wakeFeederLocked()
}

// setWaitingLocked records whether the feeder waits.
func (w *Window[T, R]) setWaitingLocked(waiting bool) {
	w.room.waiting = waiting
	if w.Queue >= 0 {
		w.room.demand.Wait(w.Executor.Engine.Limiter().NeedController(), waiting && !w.Short(), w.Queue, w.limit())
	}
}

// wakeFeederLocked wakes the feeder if it waits and there is room.
func (w *Window[T, R]) wakeFeederLocked() {
	if !w.room.waiting {
		return
	}
	if size := w.size(); size-w.room.admitted >= w.least(size) {
		w.setWaitingLocked(false)
		select {
		case w.room.vacant <- struct{}{}:
		default: // it looks already
		}
	}
}

func (w *Window[T, R]) limit() int { return min(w.Executor.Engine.Limiter().Bound(), maxLimit) }

// taskSize returns how many items make a task.
func (w *Window[T, R]) taskSize() int {
	return int(min(max(w.cost.items(taskTime), 1), int64(w.MaxSize)))
}

// Short reports whether tasks have several items: as in work.BatchRunner.
func (w *Window[T, R]) Short() bool { return w.taskSize() > 1 }

// size returns how many items may be in progress.
func (w *Window[T, R]) size() int {
	limit, task := int64(w.limit()), int64(w.taskSize())
	n := 2 * limit
	switch {
	case w.Queue >= 0:
		n = limit + min(int64(w.Queue), math.MaxInt32)
	case task > 1:
		n = limit*task + max(min(w.cost.items(reserveTime), w.room.reserve), reserveTasks*task)
	}
	return int(min(n, math.MaxInt32))
}

// least returns the smallest number of items that are admitted at once, if size items may be
// in progress: a task, or one item under Queue.
func (w *Window[T, R]) least(size int) int {
	if w.Queue >= 0 {
		return 1
	}
	return max(min(w.taskSize(), size/parts), 1)
}
