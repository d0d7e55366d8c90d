package par

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/stint-go/stint/internal/race"
	"github.com/stint-go/stint/internal/task"
)

// A loop starts on the caller's goroutine alone: waking a CPU takes the caller up to 8 µs,
// and 50 to 100 µs pass until that CPU takes part.
const (
	helperWorthwhile = 60 * time.Microsecond // of work left, for which a helper is called
	minMeasured      = time.Microsecond      // of work, before anything follows from its time
	maxBatch         = 16 * time.Microsecond // of work
	assumedCost      = 1_000_000             // of an item, in picoseconds, until the clock moves: in a synctest bubble it may stand still
	itemsPerHelper   = 8                     // so many, and the first of them is a small part
	groupItems       = 32                    // that are called between two looks at the loop; a power of 2
)

// A loop is one call of a function of this package, for all indexes. README.md has its states
// and races.
type loop struct {
	n     int
	body  func(lo, hi int) // makes the calls for the indexes from lo to hi-1
	whole bool             // body gets whole batches
	procs int
	epoch time.Time // of the clocks of its workers

	helpers sync.WaitGroup
	failure failure
	stopped atomic.Bool // a call did not return: no group starts
	wanted  atomic.Bool // workers look at their batches: one has found nothing, or indexes were left out

	progress
}

// progress is how far a loop has come.
type progress struct {
	mu      sync.Mutex
	workers int   // that have not found the end
	lo, hi  int   // the indexes that are left: from lo to hi-1
	end     int   // the indexes from end on are left out
	cost    int64 // of an item, in picoseconds, as measured last
	grown   int   // of a batch, at most: four times the batch that was measured last
}

// A worker is one goroutine of a loop.
type worker struct {
	loop     *loop
	lo, hi   int           // the rest of its batch
	whole    bool          // the batch is one group
	measured int           // the first index of the batch that it has not measured
	read     time.Duration // when it saw the clock move
	calls    int           // that it has measured since then
}

// newLoop returns a loop over the indexes from 0 to n-1.
func newLoop(n int, body func(lo, hi int)) *loop {
	return &loop{n: n, body: body, progress: progress{hi: n, end: n, cost: assumedCost, grown: 1}}
}

// run returns when all calls have returned. It panics or ends the goroutine if one of them did.
func (l *loop) run() {
	if l.n == 0 {
		return
	}
	l.procs, l.workers = 1, 1
	if l.n > 1 {
		l.procs = runtime.GOMAXPROCS(0)
	}
	defer l.failure.raise() // of a Goexit, too
	defer l.helpers.Wait()
	task.Guard(l.lead, l.failed)
}

// failed is told of a call that did not return.
func (l *loop) failed(o task.Outcome) {
	l.stopped.Store(true)
	l.failure.add(o)
}

// lead is what the caller's goroutine does.
func (l *loop) lead() {
	if l.procs == 1 {
		l.body(0, l.n)
		return
	}
	l.epoch = time.Now()
	if race.Enabled && splits {
		l.split()
	}
	l.work()
}

// fork calls f on a goroutine of the loop.
func (l *loop) fork(f func()) {
	l.helpers.Add(1)
	go func() {
		defer l.helpers.Done()
		task.Guard(f, l.failed)
	}()
}

// splits makes loops split under the race detector. Tests of other things turn it off.
var splits = true

// split calls body for the first items on two goroutines. Otherwise the race detector would
// find nothing in most tests, whose loops are short.
func (l *loop) split() {
	n := min(l.n, 4*groupItems)
	l.lo = n
	l.workers++
	l.fork(func() {
		l.body(n/2, n)
		l.work()
	})
	l.body(0, n/2)
}

// work takes batches until none is left.
func (l *loop) work() {
	for w := (&worker{loop: l}); w.take(); {
		w.call()
	}
}

// call calls body for the batch, in groups. A group ends at a multiple of groupItems: branch
// prediction gains from groups that always have the same indexes. Otherwise a loop over
// math.Pow took 1.5 times as long.
func (w *worker) call() {
	l := w.loop
	for w.lo < w.hi && !l.stopped.Load() {
		end := w.hi
		if !w.whole {
			end = w.lo + min(groupItems-w.lo&(groupItems-1), w.hi-w.lo)
		}
		l.body(w.lo, end)
		w.lo = end
		if l.wanted.Load() && end < w.hi {
			w.look()
		}
	}
}

// take gives w its next batch, and reports false if nothing is left. It starts a helper if a CPU
// is idle and enough is left.
func (w *worker) take() bool {
	l, now := w.loop, time.Since(w.loop.epoch)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.measureLocked(w, now)
	if l.lo == l.hi || l.stopped.Load() {
		l.workers--
		l.wanted.Store(true)
		return false
	}
	w.lo, w.hi, w.measured = l.lo, l.lo+l.sizeLocked(), l.lo
	l.lo = w.hi
	if l.workers < l.procs && l.needsHelperLocked(l.hi-l.lo, now) {
		l.workers++
		l.fork(l.work)
	}
	w.whole = l.whole || l.workers == 1
	return true
}

// look leaves the rest of the batch to all workers, if nothing else is left and it is worth a
// helper. The items since w read the clock tell what it costs.
func (w *worker) look() {
	l, now := w.loop, time.Since(w.loop.epoch)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.measureLocked(w, now)
	w.hi = max(w.lo, min(w.hi, l.end))
	if l.lo == l.hi && l.needsHelperLocked(w.hi-w.lo, now) {
		l.lo, l.hi, w.hi = w.lo, w.hi, w.lo
		l.wanted.Store(false)
	}
}

// cut leaves out the indexes from i on.
func (l *loop) cut(i int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.end = min(l.end, i)
	l.hi = max(l.lo, min(l.hi, i))
	l.wanted.Store(true)
}

// measureLocked records what w has called since it was last measured.
func (l *loop) measureLocked(w *worker, now time.Duration) {
	n := w.lo - w.measured
	if n == 0 { // it takes its first batch
		w.read = now
		return
	}
	l.grown = 4 * n
	w.measured = w.lo
	w.calls += n
	if passed := int64(now - w.read); passed > 0 {
		l.cost = passed*1000/int64(w.calls) + 1
		w.read, w.calls = now, 0
	}
}

// sizeLocked returns the size of the next batch: at most an eighth of what is left for each
// worker, unless that is too little to measure. It ends at the end of a group, if it has several.
func (l *loop) sizeLocked() int {
	left := l.hi - l.lo
	n := min(l.grown, max(left/(8*l.workers), l.itemsIn(minMeasured)), l.itemsIn(maxBatch), left)
	if n >= 2*groupItems && n < left {
		n -= (l.lo + n) & (groupItems - 1)
	}
	return n
}

// itemsIn returns how many items take d, at least 1.
func (l *loop) itemsIn(d time.Duration) int { return int(max(1, int64(d)*1000/l.cost)) }

// needsHelperLocked reports whether n items are worth a helper. A loop of few items has helpers
// from the start: of two long items, running the first alone would take half of the time.
func (l *loop) needsHelperLocked(n int, now time.Duration) bool {
	if l.n < itemsPerHelper*(l.procs-1) {
		return n > 0
	}
	return now > minMeasured && float64(n)*float64(l.cost) > float64(helperWorthwhile)*1000
}
