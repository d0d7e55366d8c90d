// Package loop runs finite work: a body called for every index, on the caller's goroutine
// and on helpers. See README.md for the states and the races.
package loop

import (
	"context"
	"runtime"
	"runtime/trace"
	"sync"
	"sync/atomic"

	"github.com/stint-go/stint/internal/auto"
	"github.com/stint-go/stint/internal/limit"
	"github.com/stint-go/stint/internal/race"
	"github.com/stint-go/stint/internal/task"
	"github.com/stint-go/stint/internal/work"
)

// A Body is told how the calls of a Loop end.
type Body interface {
	// Failed is told how the call for i ended if it did not return nil, and reports
	// whether the loop stops. For a panic it runs inside the deferred call.
	Failed(i int, o task.Outcome) (stop bool)
	// Abandoned is told that the engine was shut down before every index was claimed.
	Abandoned()
}

// Config configures a Loop. N, Context, Calls, Body and one of Limiter, Engine, Limit and Auto must be
// set.
type Config struct {
	N       int
	Context context.Context
	Endless bool                                // Context does not end before Stop is called
	Calls   func(context.Context, *Claim) error // makes the call for At, and those that Next allows; returns the first error
	Body    Body
	Parent  *limit.Scope // of the call, if a task makes it or its priority is low
	Name    string       // of the regions in execution traces; "" makes none
	Waits   bool         // a call may wait for others, so indexes are claimed alone

	Limiter *limit.Limiter // bounds the workers, and perhaps those of others
	Nested  bool           // Limiter is inherited
	Engine  *work.Engine   // whose workers call Body; nil: the caller and helpers of the loop
	Limit   int            // bounds the workers if Limiter and Engine are nil
	Auto    auto.Config    // searches for that limit instead, if Max is not 0; calls without a limit inherit it
}

// A rest is the indexes from lo to hi-1.
type rest struct{ lo, hi int }

// A Loop makes one call for every index from 0 to N-1, unless Failed or the end of Context
// stops it.
type Loop struct {
	Config
	ends    race.Ends // of items that ran on goroutines of their own
	lim     *limit.Limiter
	low     bool         // its tasks have low priority on lim
	procs   int          // the number of CPUs
	running atomic.Int32 // workers and the spare worker

	pooled  // for Engine
	helping // otherwise

	mu   sync.Mutex
	over chan struct{} // closed when no more calls will start; nil unless a worker waits
	indexes
	caller worker
}

// indexes are those of a loop, which workers claim.
type indexes struct {
	signs    atomic.Uint32
	cut      atomic.Bool   // an index was claimed, and its call did not start
	next     atomic.Uint64 // the first unclaimed index; it may pass N, which may be the largest int
	returned atomic.Int64  // how many indexes are in rests
	rests    []rest        // what is left of claims and was returned; guarded by mu
}

// init chooses the limiter. The loop's own is no part of the loop's memory: contexts of tasks
// refer to it, and may live long.
func (l *Loop) init() {
	switch {
	case l.Engine != nil:
		l.lim = l.Engine.Limiter()
	case l.Limiter != nil:
		l.lim = l.Limiter
	case l.Auto.Max > 0:
		l.lim = new(limit.Limiter)
		l.lim.InitAdaptive(l.Auto)
		l.lim.Inherit()
	default:
		l.lim = new(limit.Limiter)
		l.lim.Init(l.Limit)
	}
	l.low = l.shared() && l.Parent.IsLow()
	l.procs = runtime.GOMAXPROCS(0)
}

// shared reports whether lim is not the loop's own.
func (l *Loop) shared() bool { return l.Limiter != nil || l.Engine != nil }

// Run runs the loop and returns when every call has returned. It reports false, and calls
// nothing, if the engine is closed. A call of runtime.Goexit on the caller's goroutine
// ends that goroutine after all other calls have returned.
func (l *Loop) Run() bool {
	l.init()
	if l.Engine != nil {
		return l.runOn(l.Engine)
	}
	w := &l.caller
	w.loop, w.ctx = l, l.Context
	if w.permit, w.has = l.lim.AcquireFree(w.from()); !w.has && !w.acquire(nil) {
		return true
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
	if !l.shared() {
		l.lim.EndSearch()
	}
}

// Running returns how many calls run, at least: the caller and the helpers that have not
// found the loop over.
func (l *Loop) Running() int { return int(l.running.Load()) }

// Complete reports whether every index was started. It is called after Run.
func (l *Loop) Complete() bool { return l.left() == 0 && !l.cut.Load() }

// Stop keeps further calls from starting.
func (l *Loop) Stop() { l.signs.Or(stopped) }

// has reports whether there is a sign.
func (l *Loop) has(sign uint32) bool { return l.signs.Load()&sign != 0 }

// left returns how many indexes are not claimed, or were returned.
func (l *Loop) left() int { return l.fresh() + int(l.returned.Load()) }

// fresh returns how many indexes were never claimed.
func (l *Loop) fresh() int { return l.N - int(min(l.next.Load(), uint64(l.N))) }

// traced reports whether each call is a region.
func (l *Loop) traced() bool { return l.Name != "" && trace.IsEnabled() }

// stops reports whether no more calls start, of those that were claimed too. It stops the loop if
// the context has ended.
func (l *Loop) stops() bool {
	if !l.has(stopped) && l.Context.Err() != nil {
		l.Stop()
	}
	return l.has(stopped)
}

// isOver reports whether no more calls will start.
func (l *Loop) isOver() bool { return l.has(stopped) || l.left() == 0 }

// claim claims the next n indexes: those from lo to hi-1, fewer at the end of the loop. Another
// worker may have claimed the last one since the caller looked. Then it claims one of those that
// were returned.
func (l *Loop) claim(n int) (lo, hi int) {
	if l.fresh() == 0 { // so that next stays near N whatever the number of workers
		return l.claimReturned()
	}
	end, last := l.next.Add(uint64(n)), uint64(l.N)
	if end-uint64(n) >= last {
		return l.claimReturned()
	}
	return int(end - uint64(n)), int(min(end, last))
}

// claimReturned claims an index that was returned.
func (l *Loop) claimReturned() (lo, hi int) {
	if !l.has(wanted) {
		l.signs.Or(wanted)
	}
	if l.returned.Load() == 0 {
		return 0, 0
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.rests) == 0 {
		return 0, 0
	}
	l.returned.Add(-1)
	r := &l.rests[0]
	lo = r.lo
	if r.lo++; r.lo == r.hi {
		l.rests = l.rests[1:]
	}
	return lo, lo + 1
}

// returnRest lets others claim the indexes from lo to hi-1, and starts helpers for them. The caller
// goes on to claim, so that they are called even if nobody helps.
func (l *Loop) returnRest(lo, hi int) {
	l.mu.Lock()
	l.rests = append(l.rests, rest{lo, hi})
	l.returned.Add(int64(hi - lo))
	l.mu.Unlock()
	if l.Engine != nil {
		l.offer()
	} else {
		l.addSpare()
	}
}

// end is called by every worker that leaves. If the loop is over, end ends the waits for
// permits; at the latest, the last worker finds the loop over. A worker that waits later looks
// itself.
func (l *Loop) end() {
	if !l.isOver() || l.waiting.Load() == 0 {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.isOver() {
		l.closeOverLocked()
		l.cancelSpare()
	}
}

// overSignal returns a channel that is closed when no more calls will start. The caller is
// counted in waiting.
func (l *Loop) overSignal() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.over == nil {
		l.over = make(chan struct{})
	}
	over := l.over
	if l.isOver() {
		l.closeOverLocked()
	}
	return over
}

func (l *Loop) closeOverLocked() {
	if l.over != nil {
		close(l.over)
		l.over = nil
	}
}

// tell passes on the outcome of a call that has failed.
func (l *Loop) tell(i int, o task.Outcome) {
	if l.Body.Failed(i, o) {
		l.Stop()
	}
}
