// Package loop runs finite work: n items by index, on the caller's goroutine
// and helpers. See README.md for the states and the races.
package loop

import (
	"context"
	"runtime/pprof"
	"sync"
	"sync/atomic"
	"time"

	"github.com/stint-go/stint/internal/auto"
	"github.com/stint-go/stint/internal/limit"
	"github.com/stint-go/stint/internal/task"
	"github.com/stint-go/stint/internal/work"
)

// A Loop calls Job once for every index from First to N-1, unless Failed, Cut or
// the end of Context stops it. The zero values of the other fields have a meaning
// each.
//
// What is read for every span comes first. What is written all the time, next and
// the caller's span, has neighbours that hardly anybody looks at: processors hand
// each other whole lines of memory.
type Loop struct {
	N       int
	Context context.Context
	Job     Job
	Home    *limit.Link                     // of the call, if a task makes it, or nil
	Name    string                          // of the regions in execution traces; "" makes none
	Engine  *work.Engine                    // whose workers help; nil: goroutines of the loop
	lim     *limit.Limiter                  // of Limiter or Engine, or nil
	tuner   atomic.Pointer[auto.Controller] // of lim, or of the loop's own limit; nil: none, or not yet
	alarm   *limit.Alarm                    // of lim
	sharing *sharing                        // nil without Limiter
	seats   atomic.Pointer[seat]
	Procs   int // the number of processors
	halt    atomic.Uint32
	Compute bool      // no item waits, so that many may be in a span
	paced   bool      // the workers measure, and claim accordingly
	epoch   time.Time // of their clocks, when paced

	Limiter *limit.Limiter   // bounds the workers, with others when it is shared
	Tuner   *auto.Controller // of Limiter, or nil
	Limit   int              // bounds the workers when Limiter and Engine are nil
	Auto    auto.Config      // finds that bound instead, if Max is not 0
	First   int              // the first index to call
	Cost    int64            // of an item, if the caller has measured some; in picoseconds

	ended    atomic.Bool
	helpers  sync.WaitGroup
	running  atomic.Int32 // workers that may call, the standby too
	standing atomic.Bool  // the next helper is ready and has not begun
	readied  time.Time    // since when, if that is to be known; written by who has set standing, as is
	waits    int          // how often a standby has waited for a processor in vain
	source   *work.Source // of Engine
	queued   atomic.Bool  // the standby is in it

	next atomic.Uint64 // the first index that was not claimed; it passes N, which may be the largest int
	cost atomic.Int64  // of an item, as measured last, but for an eighth
	most atomic.Int64  // workers, when nobody else has permits

	mu     sync.Mutex // every move of more than one index
	deep   int        // workers that may give indexes back
	joined bool       // the caller has done all it could: no helper leaves any more because of a smaller limit

	caller worker
}

// sharing is what a loop needs for a limiter that others may use.
type sharing struct {
	none    chan struct{} // closed when the loop has ended
	turn    chan struct{} // the standby's permit is there for the caller, which is
	idle    atomic.Bool   // waiting for it
	standby limit.Waiter  // of the next helper
	waiting atomic.Int32  // workers and standby in the limiter's line
}

// Run runs the loop and returns when every call has. It reports false, and calls
// nothing, when the engine is closed. A Goexit in a call on the caller's goroutine
// ends that goroutine, after all other calls have returned.
func (l *Loop) Run() bool {
	l.lim = l.Limiter
	tuner := l.Tuner
	if l.Engine != nil {
		l.lim, tuner = l.Engine.Limiter(), l.Engine.Tuner()
	}
	l.most.Store(int64(l.Limit))
	if l.Auto.Max > 0 {
		l.most.Store(int64(l.Auto.Start()))
	}
	if tuner != nil {
		l.tuner.Store(tuner)
	}
	l.next.Store(uint64(l.First))
	alone := max(few, l.bound()) // so many items are taken one by one
	if l.Compute {
		alone = 1
	}
	if l.N-l.First > alone && uint64(l.N) <= maxIndex {
		l.paced, l.epoch = true, time.Now()
	}
	l.cost.Store(l.Cost)
	if l.Engine != nil {
		return l.runOn(l.Engine)
	}
	w := &l.caller
	w.init(l, l.Context)
	w.caller = true
	if l.Limiter != nil {
		l.sharing = &sharing{none: make(chan struct{}), turn: make(chan struct{}, 1)}
		l.sharing.standby.Grant = l.granted
		if !w.acquire() {
			return true
		}
	}
	l.watch()
	defer l.unwatch()
	w.begin()
	l.running.Add(1)
	defer l.join(w)
	l.standBy()
	w.work()
	for !l.done() {
		l.standBy()
		w.work()
	}
	return true
}

// watch makes a smaller limit end the spans.
func (l *Loop) watch() {
	if l.lim != nil && l.paced {
		l.alarm = &limit.Alarm{Word: &l.halt, Over: lowered, Above: raised, Most: l.Procs}
		l.lim.Watch(l.alarm)
	}
}

func (l *Loop) unwatch() {
	if l.alarm != nil {
		l.lim.Unwatch(l.alarm)
	}
}

// bound returns the limit.
func (l *Loop) bound() int {
	if l.lim != nil {
		return l.lim.Bound()
	}
	return int(l.most.Load())
}

// above reports whether the limit says that items wait: it is above the number of
// processors, and not only because none is known to be better.
func (l *Loop) above() bool {
	switch {
	case l.lim != nil:
		return l.lim.Above(l.Procs)
	case l.Auto.Max > 0:
		return l.tuner.Load() != nil
	}
	return l.Limit > l.Procs
}

// join ends the loop for the caller, and waits for the helpers. It is deferred: a
// Goexit must not leave them behind.
func (l *Loop) join(w *worker) {
	if w.calling || l.Context.Err() != nil {
		l.Stop()
	}
	w.leave()
	l.end()
	w.release()
	l.untune()
	if l.running.Add(-1) == 0 {
		l.helpers.Wait() // at most the last instructions of one
		return
	}
	l.Home.Lend()
	l.helpers.Wait()
	l.Home.Reclaim()
}

// standBy makes one more helper ready, which runs when a processor is free for
// it, and first makes the next one ready. So work that computes gets as many
// helpers as there are processors, and work that waits gets all that the limit
// allows. Without a free permit the standby is only a place in the limiter's line.
// Whoever calls it takes an index itself afterwards, unless a standby is there. It
// reports whether one is.
func (l *Loop) standBy() bool { return l.standByFor(2) }

// standByFor is standBy when so many indexes must be left: one, if who calls it takes
// none itself.
func (l *Loop) standByFor(least int) bool {
	if !l.short(least) {
		return false
	}
	if !l.standing.CompareAndSwap(false, true) {
		return true
	}
	l.helpers.Add(1)
	running := l.running.Add(1)
	if l.sharing == nil { // nobody else has permits: the helpers are counted instead
		if int64(running) > l.most.Load() {
			l.forgo()
			if int64(l.running.Load()) < l.most.Load() {
				return l.standByFor(least) // the limit has grown, and who raised it found one standing
			}
			l.press()
			return false
		}
		l.ready(int(running))
		go l.help()
		if l.Compute {
			l.expose()
		}
		return true
	}
	l.sharing.waiting.Add(1)
	l.sharing.standby.Quiet = l.brief()
	if l.lim.Join(&l.sharing.standby, nil) {
		l.ready(l.Procs + 1)
		go l.help()
		return true
	}
	if l.over() { // end may have looked before it stood in line
		l.recall()
	}
	return true
}

// short reports whether one more helper could be of use, and least indexes are left.
func (l *Loop) short(least int) bool {
	workers := int(l.running.Load())
	if l.isStopped() || workers >= l.N || l.left() < least {
		return false
	}
	if l.sharing == nil && int64(workers) >= l.most.Load() {
		if !l.standing.Load() { // it may not have got a processor yet
			l.press()
		}
		return false
	}
	return true
}

// expose lets other processors take the standby at once. They leave the goroutine
// that was started last to the processor that started it, for a pause in which the
// thread that looks for work sleeps: 60 µs on Linux. So a goroutine that does
// nothing is started after it.
func (l *Loop) expose() {
	l.helpers.Add(1)
	go l.helpers.Done()
}

// more gets one more helper, for what was given back, from where helpers come. It
// reports whether there is one: not when the last that found nothing has not left
// yet.
func (l *Loop) more() bool {
	if l.Engine != nil {
		return l.offer()
	}
	return l.standBy()
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
	if l.sharing.idle.CompareAndSwap(true, false) {
		l.sharing.turn <- struct{}{}
		return
	}
	l.ready(l.Procs + 1)
	go l.help()
}

// recall takes the standby out of the limiter's line.
func (l *Loop) recall() {
	if l.sharing != nil && l.lim.Leave(&l.sharing.standby) {
		l.sharing.waiting.Add(-1)
		l.forgo()
	}
}

// help is a helper's goroutine, which has a permit.
func (l *Loop) help() {
	if l.sharing == nil && l.ended.Load() {
		l.forgo() // it comes too late: the loop was short
		return
	}
	w := new(worker)
	w.init(l, l.Context)
	if l.sharing != nil {
		w.has = true
		l.sharing.waiting.Add(-1)
		w.since = time.Now()
	}
	if l.sharing != nil || l.Name != "" { // a stranger may have started this goroutine, or one without the name
		pprof.SetGoroutineLabels(limit.Labelled(l.Context))
	}
	l.patient()
	w.begin()
	l.standing.Store(false)
	l.standBy()
	w.serve()
}

// resume goes on with w on a new goroutine, after a Goexit has ended its own.
func (l *Loop) resume(w *worker) { go w.serve() }

// Measured returns what an item has cost when a worker looked last, in picoseconds:
// Cost if none did, or if the clock stood still. It is called after Run.
func (l *Loop) Measured() int64 { return l.cost.Load() }

// Complete reports whether every index was begun. It is called after Run.
func (l *Loop) Complete() bool { return l.left() == 0 }

// Cut leaves out the indexes that no worker has claimed yet, all of which are
// larger than those that have been begun.
func (l *Loop) Cut() { l.next.Store(uint64(l.N)) }

// Stop keeps further calls from beginning.
func (l *Loop) Stop() { l.halt.Or(stopped) }

func (l *Loop) isStopped() bool { return l.halt.Load()&stopped != 0 }

// over reports whether no call will begin any more.
func (l *Loop) over() bool { return l.isStopped() || l.exhausted() }

// end sends those home who wait for a permit, when they could do nothing with
// it. Every worker calls it when it leaves: the last finds the loop over.
func (l *Loop) end() {
	if !l.over() || !l.ended.CompareAndSwap(false, true) || l.sharing == nil {
		return
	}
	close(l.sharing.none)
	l.recall()
}

// fail passes on how a call ended.
func (l *Loop) fail(i int, o task.Outcome) {
	if l.Job.Failed(i, o) {
		l.Stop()
	}
}
