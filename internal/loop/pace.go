package loop

import "time"

// How much is claimed follows the measured cost of an item. A claim takes the
// lock: beside 50 µs of work that is nothing, and what was claimed can be stolen
// back. What is in a span cannot, so a span is only as long as makes the 15 ns that
// it takes to get one small. Items of 2 ns are hardly calls: with 128 of them the
// 15 ns are 5 %, and more would wait behind one that blocks. Where none does, a span
// may be longer: who wants what is in it gets it, or waits for it. Two workers that
// go through memory in turns take 8 % longer with spans of 4 µs than with halves of
// all, and 2 % with 16.
const (
	chunkTime   = 50 * time.Microsecond
	spanTime    = time.Microsecond
	computeTime = 16 * time.Microsecond // of spans of a loop that computes
	clockTime   = 8 * time.Microsecond  // from one look at the clock to the next
	worth       = 20 * time.Microsecond // of work left, that a helper is called for
	briefTime   = 20 * time.Microsecond // of items that are not thought to wait
	maxWidth    = 128
	few         = 16 // items of a loop that are not worth a look at the clock
)

// pace is what a worker knows of the cost of an item. As long as the clock shows
// no progress, as in a bubble or on a coarse clock, it knows nothing, and takes
// one index at a time.
type pace struct {
	cost  int64         // in picoseconds; 0: unknown
	width int           // of its spans
	read  time.Duration // when it looked at the clock last
	calls int           // it has begun since then
	every int           // calls after which it looks again
	asked bool          // somebody had nothing to do, and no helper was called since
}

// ready makes w measure, unless every item is to be taken by itself.
func (w *worker) ready() {
	w.width, w.every = 1, int(^uint(0)>>1)
	if l := w.loop; l.paced {
		w.read, w.every = time.Since(l.epoch), 1
		w.cost = l.cost.Load()
		if l.Cost > 0 {
			w.fit(l.widest())
		}
	}
}

// learn looks at the clock. The cost grows at once, but shrinks to an eighth at
// most: one that is too high costs a few more claims, one that is too low makes
// items wait behind others. What rides on an estimate is at most four times what
// it was made from.
func (w *worker) learn() {
	now := time.Since(w.loop.epoch)
	passed := int64(now - w.read)
	if passed <= 0 {
		w.every = min(2*w.every, w.every+1000)
		return
	}
	cost := min(passed, 1<<50)*1000/int64(w.calls) + 1
	if w.cost > 0 {
		cost = max(cost, w.cost/8)
	}
	most := 4 * min(w.calls, 1<<20)
	if change := cost - w.cost; change > w.cost/8 || -change > w.cost/8 {
		brief := w.loop.brief()
		w.loop.cost.Store(cost) // a line that the others use
		if brief && !w.loop.brief() && w.loop.tunes() {
			w.loop.lengthened()
		}
	}
	w.cost = cost
	w.fit(min(most, w.loop.widest()))
	w.every = min(w.every, most)
	w.read, w.calls, w.seatless = now, 0, false
	if w.asked {
		w.recall(cost)
	}
}

// fit makes the width and the time between two looks at the clock those for the
// cost.
func (w *worker) fit(widest int) {
	d := spanTime
	if w.loop.Compute {
		d = computeTime
	}
	w.widen(fit(d, w.cost, widest))
	w.every = max(fit(clockTime, w.cost, 1<<20), few)
}

// recall calls a helper back, if what is left is worth it. Otherwise w looks again
// after the next span: the items that it gave back may cost more than those before.
func (w *worker) recall(cost int64) {
	if l := w.loop; float64(l.left())*float64(cost) > float64(worth)*1000 {
		w.asked = !l.more()
	}
	if w.asked {
		w.every = 1
	}
}

// chunk returns how many indexes to claim.
func (w *worker) chunk() int {
	if w.cost == 0 || w.seatless {
		return 1
	}
	return fit(chunkTime, w.cost, maxLength)
}

// fit returns how many items of a cost fit into d: at least 1, at most most.
func fit(d time.Duration, cost int64, most int) int {
	return int(min(max(int64(d)*1000/cost, 1), int64(most)))
}

// widest returns how many indexes a span may have. A limit beyond the number of
// processors says that items wait: none should wait behind another then.
func (l *Loop) widest() int {
	switch {
	case l.above():
		return 1
	case l.Compute:
		return maxLength
	}
	return maxWidth
}
