package loop

import (
	"runtime/pprof"
	"sync/atomic"
	"time"

	"github.com/stint-go/stint/internal/auto"
	"github.com/stint-go/stint/internal/limit"
)

// shortItemTime is the time of an item below which it hardly waits. The controller of an
// adaptive limit is not told of a spare worker that waits beside such items.
const shortItemTime = 20 * time.Microsecond

// A spare is the next helper of a loop, before it starts: a new goroutine, or an entry in
// the limiter's queue. There is one at most, and it is counted in running and helpers.
type spare struct {
	exists    atomic.Bool
	waiter    limit.Waiter
	untracked atomic.Bool   // it may wait without the knowledge of the controller
	ready     time.Duration // when it had a permit, by limit.Clock; guarded by exists
	waits     int           // how often a spare worker has waited for a CPU in vain; guarded by exists
}

// addSpare makes a spare worker, which starts when it has a permit and a CPU runs it, and
// first makes the next spare worker. So CPU-bound work gets as many helpers as there are
// CPUs, and I/O-bound work as many as the limit allows. The calling worker takes one of the
// indexes left itself.
func (l *Loop) addSpare() {
	s := &l.spare
	if l.stopped.Load() || l.left() < 2 || int(l.running.Load()) >= l.N || !s.exists.CompareAndSwap(false, true) {
		return
	}
	l.helpers.Add(1)
	l.running.Add(1)
	if l.lim.TryAcquire() {
		l.startSpare()
		return
	}
	if s.waiter.Grant == nil {
		s.waiter.Grant = func() { l.waiting.Add(-1); l.startSpare() }
	}
	short := l.lim.Adaptive() && l.short()
	s.waiter.Untracked, s.waiter.Low, s.waiter.Nested = short, l.low, l.Nested
	l.waiting.Add(1)
	if l.lim.Join(&s.waiter, nil) {
		s.waiter.Grant()
		return
	}
	if short {
		s.untracked.Store(true) // now: Track finds it in the queue
	}
	if l.isOver() { // end may have looked before it joined
		l.cancelSpare()
	}
}

// short reports whether the items that have ended are known to be short, on average.
func (l *Loop) short() bool {
	running, passed := int64(l.running.Load()), int64(limit.Clock()-l.began)
	ended := int64(l.next.Load()) - running
	return !l.Waits && passed > 0 && passed*running < ended*int64(shortItemTime)
}

// startSpare starts the spare worker, which has a permit.
func (l *Loop) startSpare() {
	l.spare.ready = limit.Clock()
	go l.help()
}

// dropSpare removes the spare worker from the counts.
func (l *Loop) dropSpare() {
	l.spare.exists.Store(false)
	l.running.Add(-1)
	l.helpers.Done()
}

// cancelSpare takes the spare worker out of the limiter's queue, if it is there.
func (l *Loop) cancelSpare() {
	if l.lim.Leave(&l.spare.waiter) {
		l.waiting.Add(-1)
		l.dropSpare()
	}
}

// help is the goroutine of a helper, which is the spare worker until it has made the next. Any
// goroutine may have started it.
func (l *Loop) help() {
	if l.isOver() {
		l.lim.Release(limit.Permit{})
		l.dropSpare()
		return
	}
	pprof.SetGoroutineLabels(l.Context)
	w := &worker{has: true}
	w.init(l, l.Context)
	s := &l.spare
	if late := limit.Clock() - s.ready; late >= auto.PromptWakeup && l.lim.Adaptive() {
		s.waits = l.lim.NeedController().AwaitCPU(late, s.waits, l.isOver)
	}
	w.begin()
	s.exists.Store(false)
	l.addSpare()
	w.sampling.Start(l.lim)
	w.serve()
}

// serve is the rest of a helper's goroutine. After a Goexit a new goroutine continues.
func (w *worker) serve() {
	l := w.loop
	defer func() {
		if w.calling && !l.stopped.Load() {
			w.calling = false
			go w.serve()
			return
		}
		l.end()
		w.release()
		l.running.Add(-1)
		l.helpers.Done()
	}()
	w.work()
}
