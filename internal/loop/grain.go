package loop

import "time"

// In a loop with Compute the number of claimed indexes follows the measured cost of an item. A
// claim takes the lock, which is cheap compared with 50 µs of work, and claimed indexes can be
// stolen. Indexes of a batch cannot: two workers that read memory in turns take 8 % longer with
// batches of 4 µs than with halves, and 2 % with 16 µs.
const (
	chunkTime        = 50 * time.Microsecond
	batchTime        = 16 * time.Microsecond
	clockInterval    = 8 * time.Microsecond  // between two readings of the clock
	helperWorthwhile = 20 * time.Microsecond // of work left, for which a helper is called back
	shortItemTime    = 20 * time.Microsecond // items below it hardly wait
	minTimedItems    = 16                    // of a loop whose items are measured, and between two readings
)

// A grain holds a worker's measurements of the cost of an item. While the clock stands
// still, as in a synctest bubble, the cost is unknown, and the worker takes one index at a
// time.
type grain struct {
	cost    int64         // in picoseconds; 0: unknown
	size    int           // of its batches
	read    time.Duration // when it last read the clock
	calls   int           // it has started since then
	every   int           // calls after which it reads the clock again
	recalls bool          // it returned indexes, and no helper was called for them yet
}

// startTiming makes w measure items, if the loop is timed.
func (w *worker) startTiming() {
	w.size, w.every = 1, int(^uint(0)>>1)
	if l := w.loop; l.timed {
		w.read, w.every = time.Since(l.epoch), 1
		w.cost = l.cost.Load()
		if l.Cost > 0 {
			w.adapt(maxRange)
		}
	}
}

// measure reads the clock. The cost may grow at once, but falls to an eighth at most: a
// cost that is too high causes a few more claims, and a cost that is too low makes items
// wait behind others. A batch is at most four times as long as the measurement before it.
func (w *worker) measure() {
	l, now := w.loop, time.Since(w.loop.epoch)
	passed := int64(now - w.read)
	if passed <= 0 {
		w.every = min(2*w.every, w.every+1000)
		return
	}
	cost := min(passed, 1<<50)*1000/int64(w.calls) + 1
	if w.cost > 0 {
		cost = max(cost, w.cost/8)
	}
	if change := cost - w.cost; change > w.cost/8 || -change > w.cost/8 {
		short := l.shortItems()
		l.cost.Store(cost) // others read its cache line
		if short && !l.shortItems() {
			l.trackSpare()
		}
	}
	maxItems := 4 * min(w.calls, 1<<20)
	w.cost = cost
	w.adapt(min(maxItems, maxRange))
	w.every = min(w.every, maxItems)
	w.read, w.calls, w.single = now, 0, false
	if w.recalls {
		w.recallHelper()
	}
}

// adapt sets the size of the batches and the calls between two readings of the clock.
func (w *worker) adapt(maxItems int) {
	if w.loop.Compute {
		w.setBatchSize(itemsIn(batchTime, w.cost, maxItems))
	}
	w.every = max(itemsIn(clockInterval, w.cost, 1<<20), minTimedItems)
}

// recallHelper calls a helper back if the rest of the loop is worth it. Otherwise w reads
// the clock after the next batch: the returned items may cost more than the items before
// them.
func (w *worker) recallHelper() {
	if l := w.loop; float64(l.left())*float64(w.cost) > float64(helperWorthwhile)*1000 {
		w.recalls = !l.addSpare()
	}
	if w.recalls {
		w.every = 1
	}
}

// chunk returns how many indexes to claim.
func (w *worker) chunk() int {
	if !w.loop.Compute || w.cost == 0 || w.single {
		return 1
	}
	return itemsIn(chunkTime, w.cost, maxRange)
}

// itemsIn returns how many items of a cost take d: at least 1, and no more than maxItems.
func itemsIn(d time.Duration, cost int64, maxItems int) int {
	return int(min(max(int64(d)*1000/cost, 1), int64(maxItems)))
}

// shortItems reports whether items are known to be so short that they hardly wait.
func (l *Loop) shortItems() bool {
	cost := l.cost.Load()
	return cost > 0 && cost < shortItemTime.Nanoseconds()*1000
}
