package loop

import (
	"runtime/pprof"
	"sync/atomic"
	"time"

	"github.com/stint-go/stint/internal/limit"
)

// A spare is the next helper of a loop, before it starts: a new goroutine, or an entry in
// the limiter's queue. There is one at most, and it is counted in running and helpers.
type spare struct {
	exists atomic.Bool
	waits  int32 // how often a spare worker has waited for a CPU in vain; guarded by exists
	waiter limit.Waiter
	called bool      // by another goroutine, perhaps of another call; guarded by exists
	ready  time.Time // when it had a permit, if it may have to wait for a CPU; guarded by exists
}

// addSpare makes a spare worker, which starts when it has a permit and a CPU runs it, and
// first makes the next spare worker. So CPU-bound work gets as many helpers as there are
// CPUs, and I/O-bound work as many as the limit allows. The calling worker then takes an
// index itself. addSpare reports whether there is a spare worker.
func (l *Loop) addSpare() bool { return l.addSpareFor(2) }

// addSpareFor is addSpare if at least n indexes are left.
func (l *Loop) addSpareFor(n int) bool {
	if l.isStopped() || int(l.running.Load()) >= l.N || l.left() < n {
		return false
	}
	if !l.spare.exists.CompareAndSwap(false, true) {
		return true
	}
	l.helpers.Add(1)
	l.running.Add(1)
	if l.lim.TryAcquire() {
		l.startSpare()
		return true
	}
	w := &l.spare.waiter
	if w.Grant == nil {
		w.Grant = func() { l.waiting.Add(-1); l.spare.called = true; l.startSpare() }
	}
	w.Untracked, w.Low, w.Nested = l.shortItems(), l.low, l.Nested
	l.waiting.Add(1)
	if l.lim.Join(w, nil) {
		w.Grant()
	} else if l.isOver() { // end may have looked before it joined
		l.cancelSpare()
	}
	return true
}

// startSpare starts the spare worker, which has a permit.
func (l *Loop) startSpare() {
	l.spare.ready = time.Time{}
	if l.lim.Adaptive() && (l.shared || int(l.running.Load()) > l.Procs) {
		l.spare.ready = time.Now()
	}
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

// help is the goroutine of a helper, which is the spare worker until it has made the next.
func (l *Loop) help() {
	if l.ended.Load() {
		l.lim.Release(limit.Permit{})
		l.dropSpare()
		return
	}
	w := new(worker)
	w.init(l, l.Context)
	w.has = true
	if l.shared || l.spare.called || l.Name != "" { // its starter may belong to another loop, or have no name
		pprof.SetGoroutineLabels(l.Context)
	}
	l.spare.called = false
	if !l.spare.ready.IsZero() {
		l.spare.waits = int32(l.lim.NeedController().AwaitCPU(time.Since(l.spare.ready), int(l.spare.waits), l.isOver))
	}
	w.begin()
	l.spare.exists.Store(false)
	l.addSpare()
	w.sampling.Start(l.lim)
	w.serve()
}

// resume continues w on a new goroutine, after a Goexit has ended its own.
func (l *Loop) resume(w *worker) { go w.serve() }

// trackSpare tells the controller of a spare worker that waits, once items turn out not to
// be short.
func (l *Loop) trackSpare() {
	if l.Engine == nil && l.lim.Adaptive() {
		l.addSpareFor(1)
		l.lim.Track(&l.spare.waiter)
	}
}
