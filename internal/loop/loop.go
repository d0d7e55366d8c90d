// Package loop runs finite work: n items by index, on the caller's goroutine
// and helpers. See README.md for the states and the races.
package loop

import (
	"context"
	"runtime/pprof"
	"sync"
	"sync/atomic"
	"time"

	"github.com/stint-go/stint/internal/limit"
	"github.com/stint-go/stint/internal/task"
	"github.com/stint-go/stint/internal/work"
)

// A Loop calls Body once for every index from 0 to N-1, unless Failed or the end
// of Context stops it. The zero values of the other fields have a meaning each.
type Loop struct {
	N       int
	Context context.Context
	Body    func(ctx context.Context, i int) error

	// Failed is told how a call ended that did not return nil, and reports
	// whether the loop stops. For a panic it runs inside the deferred call.
	Failed func(i int, o task.Outcome) (stop bool)

	// Abandon is told that Engine was shut down before every index was given out.
	Abandon func()

	Limiter *limit.Limiter // bounds the workers, with others when it is shared
	Limit   int            // bounds the workers when Limiter is nil
	Engine  *work.Engine   // whose workers help; nil: goroutines of the loop
	Name    string         // of the regions in execution traces; "" makes none

	lim  *limit.Limiter
	solo limit.Limiter // lim, when Limiter is nil
	home *limit.Link   // of the task that the caller is

	next    atomic.Int64 // the first index not yet given out
	stopped atomic.Bool
	ended   chan struct{} // closed when no index is left; only for a shared limiter
	turn    chan struct{} // the standby's permit is there for the caller, which is
	idle    atomic.Bool   // waiting for it
	ending  sync.Once

	helpers  sync.WaitGroup
	running  atomic.Int32 // helpers that have not returned
	standby  limit.Waiter // of the next helper
	standing atomic.Bool  // there is one that has not begun
	waiting  atomic.Int32 // workers and standby in the limiter's line

	source *work.Source // of Engine
	queued atomic.Bool  // the standby is in it
}

// Run runs the loop and returns when every call of Body has. It reports false,
// and calls nothing, when the engine is closed. A Goexit in a call of Body on the
// caller's goroutine ends that goroutine, after all other calls have returned.
func (l *Loop) Run() bool {
	l.home = limit.From(l.Context)
	if l.Engine != nil {
		return l.runOn(l.Engine)
	}
	l.lim = l.Limiter
	if l.lim == nil {
		l.lim = &l.solo
		l.solo.Init(l.Limit)
	} else {
		l.ended = make(chan struct{})
		l.turn = make(chan struct{}, 1)
		l.standby.Grant = l.granted
	}
	w := &worker{loop: l, ctx: l.Context, from: l.home, caller: true, item: -1}
	if !w.acquire(w.from) {
		return true
	}
	w.begin()
	defer l.join(w)
	l.standBy()
	w.work()
	return true
}

// join ends the loop: it lets the caller's permit go, takes the standby back and
// waits for the helpers. It is deferred: a Goexit must not leave them behind.
func (l *Loop) join(w *worker) {
	l.stopped.Store(true) // nothing is left, or nothing is to be begun
	l.end()
	w.release()
	l.recall()
	if l.running.Load() == 0 {
		l.helpers.Wait() // at most the last instructions of one
		return
	}
	l.home.Lend()
	l.helpers.Wait()
	l.home.Reclaim()
}

// standBy makes one more helper ready, which runs when a processor is free for
// it, and first makes the next one ready. So work that computes gets as many
// helpers as there are processors, and work that waits gets all that the limit
// allows. Without a free permit the standby is only a place in the limiter's line.
// Whoever calls it takes an index itself afterwards, unless a standby is there.
func (l *Loop) standBy() {
	if !l.short() || !l.standing.CompareAndSwap(false, true) {
		return
	}
	l.helpers.Add(1)
	l.running.Add(1)
	if l.Limiter == nil { // nobody else frees permits
		if l.lim.TryAcquire() {
			go l.help()
		} else {
			l.forgo()
		}
		return
	}
	l.waiting.Add(1)
	if l.lim.Join(&l.standby, nil) {
		go l.help()
		return
	}
	if l.stopped.Load() { // join may have looked before it stood in line
		l.recall()
	}
}

// short reports whether one more helper could be of use.
func (l *Loop) short() bool {
	return l.left() > 1 && !l.stopped.Load() && int(l.running.Load())+1 < l.N
}

// forgo counts the standby out.
func (l *Loop) forgo() {
	l.standing.Store(false)
	l.running.Add(-1)
	l.helpers.Done()
}

// granted is the standby's turn in the limiter's line. If the caller waits, it is
// the caller's: a loop stands in line once.
func (l *Loop) granted() {
	if l.idle.CompareAndSwap(true, false) {
		l.turn <- struct{}{}
		return
	}
	go l.help()
}

// recall takes the standby out of the limiter's line.
func (l *Loop) recall() {
	if l.Limiter != nil && l.lim.Leave(&l.standby) {
		l.waiting.Add(-1)
		l.forgo()
	}
}

// help is a helper's goroutine, which has a permit.
func (l *Loop) help() {
	w := &worker{loop: l, ctx: l.Context, has: true, item: -1}
	if l.Limiter != nil {
		l.waiting.Add(-1)
		w.since = time.Now()
		pprof.SetGoroutineLabels(l.Context) // a stranger may have started this goroutine
	}
	w.begin()
	l.standing.Store(false)
	l.standBy()
	w.serve()
}

// resume goes on with w on a new goroutine, after a Goexit has ended its own.
func (l *Loop) resume(w *worker) { go w.serve() }

// left returns how many indexes are not given out.
func (l *Loop) left() int { return l.N - int(min(l.next.Load(), int64(l.N))) }

// Complete reports whether every index was given out. It is called after Run.
func (l *Loop) Complete() bool { return l.left() == 0 }

// claim gives out the next index, or -1.
func (l *Loop) claim() int {
	if l.stopped.Load() {
		return -1
	}
	if l.Context.Err() != nil {
		l.stopped.Store(true)
		return -1
	}
	if l.next.Load() < int64(l.N) { // so that next stays near N whatever the number of workers
		if i := l.next.Add(1) - 1; i < int64(l.N) {
			return int(i)
		}
	}
	l.end()
	return -1
}

// end sends those home who stand in line for a permit.
func (l *Loop) end() {
	if l.ended != nil {
		l.ending.Do(func() { close(l.ended) })
	}
}

// fail passes on how a call ended.
func (l *Loop) fail(i int, o task.Outcome) {
	if l.Failed(i, o) {
		l.stopped.Store(true)
	}
}
