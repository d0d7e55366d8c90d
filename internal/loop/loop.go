// Package loop runs finite work: a body called for every index, on the caller's goroutine
// and on helpers. See README.md for the states and the races.
package loop

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/stint-go/stint/internal/auto"
	"github.com/stint-go/stint/internal/limit"
	"github.com/stint-go/stint/internal/race"
	"github.com/stint-go/stint/internal/task"
	"github.com/stint-go/stint/internal/work"
)

// A Loop calls Body once for every index from First to N-1, unless Failed, Cut or the end
// of Context stops it. N, Context, Body, Procs and one of Limiter, Engine, Limit and Auto
// must be set.
//
// Fields that are read for every batch come first. Fields that are written often, next
// and the caller's batch, are kept off their cache lines.
type Loop struct {
	ends race.Ends // of items that ran on goroutines of their own

	N          int
	Context    context.Context
	Body       Body
	Parent     *limit.Scope // of the call, if a task makes it or its priority is low
	Name       string       // of the regions in execution traces; "" makes none
	Engine     *work.Engine // whose workers call Body; nil: the caller and helpers of the loop
	lim        *limit.Limiter
	stealables atomic.Pointer[stealable]
	Procs      int // the number of CPUs
	halt       atomic.Uint32
	shared     bool      // lim is not the loop's own
	low        bool      // its tasks have low priority on lim
	Compute    bool      // no item waits, so batches may be long
	Waits      bool      // every item may wait, so none is short
	Nested     bool      // Limiter is inherited
	timed      bool      // workers measure the cost of an item
	epoch      time.Time // of their clocks, if timed

	Limiter *limit.Limiter // bounds the workers, and perhaps those of others
	Limit   int            // bounds the workers if Limiter and Engine are nil
	Auto    auto.Config    // searches for that limit instead, if Max is not 0; calls without a limit inherit it
	First   int
	Cost    int64           // of an item, in picoseconds, if the caller has measured some
	Left    func(state any) // is called with the State of each worker that ends, before it releases its permit

	*helping // nil for one item under no limiter
	ended    atomic.Bool
	queued   atomic.Bool    // source has a helper in its queue
	helpers  sync.WaitGroup // the spare worker among them
	running  atomic.Int32   // workers and the spare worker
	waiting  atomic.Int32   // of them, those in the limiter's queue
	source   *work.Source   // of Engine

	next atomic.Uint64 // the first unclaimed index; it may pass N, which may be the largest int
	cost atomic.Int64  // of an item, as measured last to an eighth

	mu       sync.Mutex    // held for every move of more than one index
	batching int           // workers whose batches may have several indexes, which they may return
	over     chan struct{} // closed when no more calls will start; nil unless a worker waits

	caller worker
}

// helping is the part of a loop that only loops with helpers need.
type helping struct {
	*ownLimit // nil if Limiter or Engine is given
	spare     spare
}

// ownLimit is the limit of a loop that is given none. Contexts of tasks refer to it, and may
// live long. It is a part of the same allocation as helping, which therefore does not refer
// to the loop after the end.
type ownLimit struct {
	own  limit.Limiter    // lim
	held limit.HeldPermit // of the caller, if own is inherited
}

// init chooses the limiter, and whether to measure items.
func (l *Loop) init() {
	l.next.Store(uint64(l.First))
	l.cost.Store(l.Cost)
	if l.N-l.First <= 1 && l.Limiter == nil && l.Engine == nil {
		return
	}
	switch {
	case l.Engine != nil:
		l.helping = new(helping)
		l.lim, l.shared = l.Engine.Limiter(), true
	case l.Limiter != nil:
		l.helping = new(helping)
		l.lim, l.shared = l.Limiter, true
	default:
		l.initOwn()
	}
	l.low = l.shared && l.Parent.IsLow()
	untimed := max(minTimedItems, l.lim.Bound()) // so many items are claimed one by one
	if l.Compute {
		untimed = 1
	}
	if l.N-l.First > untimed && uint64(l.N) <= maxIndex && !l.Waits {
		l.timed, l.epoch = true, time.Now()
	}
}

// Run runs the loop and returns when every call has returned. It reports false, and calls
// nothing, if the engine is closed. A call of runtime.Goexit on the caller's goroutine
// ends that goroutine after all other calls have returned.
func (l *Loop) Run() bool {
	l.init()
	if l.Engine != nil {
		return l.runOn(l.Engine)
	}
	w := &l.caller
	w.init(l, l.Context)
	w.caller = true
	if l.lim != nil {
		if w.permit, w.has = l.lim.AcquireFree(w.from()); !w.has && !w.acquire(nil) {
			return true
		}
	}
	w.begin()
	l.running.Add(1)
	defer l.join(w)
	l.addSpare()
	w.sampling.Start(l.lim)
	w.work()
	return true
}

// join ends the loop for the caller, and waits for the helpers. It is deferred, since a
// Goexit must not leave them behind.
func (l *Loop) join(w *worker) {
	if w.calling || l.Context.Err() != nil {
		l.Stop()
	}
	w.leave()
	l.end()
	w.release()
	if l.running.Add(-1) == 0 {
		l.helpers.Wait() // at most for the last instructions of one
	} else {
		l.Parent.Lend()
		l.helpers.Wait()
		l.Parent.Reclaim()
	}
	l.ends.Acquire()
	if l.inherited() {
		l.lim.EndSearch()
		l.spare.waiter.Grant = nil
	}
}

// Running returns how many calls run, at least: the caller and the helpers that have not
// found the loop over.
func (l *Loop) Running() int {
	if l.source != nil {
		return l.source.Running()
	}
	return int(l.running.Load())
}

// Complete reports whether every index was started. It is called after Run.
func (l *Loop) Complete() bool { return l.left() == 0 }

// Cut leaves out the indexes that no worker has claimed. They are larger than every index
// that has been started.
func (l *Loop) Cut() { l.next.Store(uint64(l.N)) }

// Stop keeps further calls from starting.
func (l *Loop) Stop() { l.halt.Or(stopped) }

func (l *Loop) isStopped() bool { return l.halt.Load()&stopped != 0 }

// isOver reports whether no more calls will start.
func (l *Loop) isOver() bool { return l.isStopped() || l.exhausted() }

// end is called by every worker that leaves. If the loop is over, end ends the waits for
// permits; at the latest, the last worker finds the loop over. If nothing is left, end
// cancels the spare worker, which would find nothing; a worker that returns indexes later
// calls another helper.
func (l *Loop) end() {
	over := l.isOver()
	if over && !l.ended.Load() {
		l.ended.Store(true)
	}
	if l.waiting.Load() == 0 {
		return // a worker that waits later looks whether the loop is over
	}
	if over {
		l.mu.Lock()
		l.closeOver()
		l.mu.Unlock()
	}
	if over || l.left() == 0 {
		l.cancelSpare()
		if l.left() > 0 { // a worker that gave indexes back may have left because of the spare worker
			l.addSpareFor(1)
		}
	}
}

// closeOver ends the waits for permits. It is called with mu held.
func (l *Loop) closeOver() {
	if l.over != nil {
		close(l.over)
		l.over = nil
	}
}

// overSignal returns the channel that is closed when no more calls will start.
func (l *Loop) overSignal() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.over == nil {
		l.over = make(chan struct{})
	}
	over := l.over
	if l.ended.Load() {
		l.closeOver()
	}
	return over
}

// countFailure counts a call that has failed, before it counts as completed.
func (l *Loop) countFailure() {
	if l.lim != nil {
		l.lim.Failed()
	}
}

// tell passes on the outcome of a call.
func (l *Loop) tell(i int, o task.Outcome) {
	if l.Body.Failed(i, o) {
		l.Stop()
	}
}
