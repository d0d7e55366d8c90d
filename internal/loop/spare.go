package loop

import (
	"runtime/pprof"
	"sync"
	"sync/atomic"
	"time"

	"github.com/stint-go/stint/internal/auto"
	"github.com/stint-go/stint/internal/limit"
)

// helping is the part of a loop that is for the loops with helpers of their own.
type helping struct {
	helpers sync.WaitGroup // the spare worker among them
	waiting atomic.Int32   // workers and the spare worker in the limiter's queue
	spare   spare
}

// A spare is the next helper of a loop, before it starts: a new goroutine, or an entry in
// the limiter's queue. There is one at most, and it is counted in running and helpers.
type spare struct {
	exists atomic.Bool
	waiter limit.Waiter
	ready  time.Duration // when it had a permit, by limit.Clock; guarded by exists
	waits  int           // how often a spare worker has waited for a CPU in vain; guarded by exists
}

// addSpare makes a spare worker, which starts when it has a permit and a CPU runs it, and
// first makes the next spare worker. So CPU-bound work gets as many helpers as there are
// CPUs, and I/O-bound work as many as the limit allows. The calling worker takes one of the
// indexes left itself.
func (l *Loop) addSpare() {
	s := &l.spare
	if l.has(stopped) || l.left() < 2 || int(l.running.Load()) >= l.N || !s.exists.CompareAndSwap(false, true) {
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
	s.waiter.Low, s.waiter.Nested, s.waiter.InTask = l.low, l.Nested, l.Parent != nil
	l.waiting.Add(1)
	if l.lim.Join(&s.waiter, nil) {
		s.waiter.Grant()
	} else {
		l.end() // which may have looked before it joined
	}
}

// startSpare starts the spare worker, which has a permit.
func (l *Loop) startSpare() {
	l.spare.ready = limit.Clock()
	go l.help()
}

// dropSpare removes a spare worker from the counts. Another one may exist.
func (l *Loop) dropSpare() {
	l.running.Add(-1)
	l.helpers.Done()
}

// cancelSpare takes the spare worker out of the limiter's queue, if it is there. It is called with mu
// if it is called since the loop is over.
func (l *Loop) cancelSpare() {
	if l.lim.Leave(&l.spare.waiter) {
		l.waiting.Add(-1)
		l.spare.exists.Store(false)
		l.dropSpare()
	}
}

// help is the goroutine of a helper, which is the spare worker until it has made the next. Any
// goroutine may have started it.
func (l *Loop) help() {
	s := &l.spare
	l.mu.Lock()
	over := l.isOver()
	if over {
		s.exists.Store(false) // under mu: who returns indexes afterwards makes another
	}
	l.mu.Unlock()
	if over {
		l.lim.Release(limit.Permit{})
		l.dropSpare()
		return
	}
	pprof.SetGoroutineLabels(l.Context)
	w := &worker{loop: l, ctx: l.Context}
	w.has = true
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
		if w.calling && !l.has(stopped) {
			w.calling = false
			go w.serve()
			return
		}
		w.leave()
		l.end()
		w.release()
		l.running.Add(-1)
		l.helpers.Done()
	}()
	w.work()
}
