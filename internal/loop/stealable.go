package loop

import (
	"sync/atomic"

	"github.com/stint-go/stint/internal/race"
)

// A stealable is the range of indexes that its worker has claimed beyond its batch, and
// that other workers may steal from. There are at most as many as CPUs: a worker without
// one claims one index at a time, so a search for something to steal stays short however
// many workers there are.
type stealable struct {
	word atomic.Uint64 // the packed range
	next *stealable
	held bool                 // by a worker; guarded by Loop.mu
	_    [56 - 2*pointer]byte // the rest of a cache line
}

const pointer = 4 << (^uintptr(0) >> 63) // the size of one

// A range is packed as its first index and, in the low bits, its length. The word is the
// whole state, so a compare-and-swap may miss that it had another value meanwhile.
const (
	lengthBits = 16
	maxRange   = 1<<lengthBits - 1
	maxIndex   = 1<<(64-lengthBits) - 1
)

// pack packs the n indexes from lo. The sum of two packed ranges has the sums of their parts.
func pack(lo, n int) uint64 { return uint64(lo)<<lengthBits + uint64(n) }

func unpack(v uint64) (lo, n int) { return int(v >> lengthBits), int(v & maxRange) }

// left returns how many indexes a worker could still take: they are neither started nor in
// a batch.
func (l *Loop) left() int {
	n := l.unclaimed() // first: what is claimed after this is stealable when mu is free
	if n > 1 || l.stealables.Load() == nil {
		return n
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return n + l.countStealable()
}

// unclaimed returns how many indexes were never claimed.
func (l *Loop) unclaimed() int { return l.N - int(min(l.next.Load(), uint64(l.N))) }

// exhausted reports whether nothing is left and no index can be returned.
func (l *Loop) exhausted() bool {
	if l.unclaimed() > 0 {
		return false
	}
	if l.stealables.Load() == nil {
		return true
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.batching == 0 && l.countStealable() == 0
}

// take gives w its next batch. It reports false if nothing is left for w or the loop is
// stopped.
func (w *worker) take() bool {
	l := w.loop
	if l.isStopped() {
		return false
	}
	if l.Context.Err() != nil {
		l.Stop()
		return false
	}
	if w.calls >= w.every {
		w.measure()
	}
	for w.claimed != nil { // its own, which a thief may shorten meanwhile
		v := w.claimed.word.Load()
		lo, n := unpack(v)
		if n == 0 {
			break
		}
		n = min(n, w.sizeAt(lo))
		if w.claimed.word.CompareAndSwap(v, v+pack(n, -n)) {
			w.set(lo, n)
			return true
		}
	}
	return w.claim() || w.steal()
}

// sizeAt returns the size of a batch that starts at lo. Near the end of the loop batches
// become short, so that all workers finish together.
func (w *worker) sizeAt(lo int) int {
	l := w.loop
	size := min(w.size, max(w.size/16, (l.N-lo)/(8*l.Procs), 1))
	if size >= 2*blockItems {
		size -= (lo + size) & (blockItems - 1)
	}
	return size
}

// claim takes unclaimed indexes.
func (w *worker) claim() bool {
	l := w.loop
	if l.unclaimed() == 0 { // so that next stays near N whatever the number of workers
		return false
	}
	if race.Sharp && l.apart(int(l.next.Load())) {
		return w.claimApart()
	}
	if n := w.chunk(); n > 1 {
		l.mu.Lock()
		defer l.mu.Unlock()
		if w.ownRange() {
			return w.claimMany(n)
		}
	}
	return w.claimOne()
}

// claimOne claims the next index. Another worker may have claimed the last one, or cut the
// loop, since the caller looked.
func (w *worker) claimOne() bool {
	i := w.loop.next.Add(1) - 1
	if i >= uint64(w.loop.N) {
		return false
	}
	w.set(int(i), 1)
	return true
}

// steal takes the back half of the longest stealable range, or its last index if w can
// have no range of its own.
func (w *worker) steal() bool {
	l := w.loop
	if l.stealables.Load() == nil {
		return false // no worker has claimed more than one index
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for {
		from, v := l.longest()
		lo, n := unpack(v)
		if n == 0 {
			w.wantBatches()
			return false
		}
		m := n - n/2
		if !w.ownRange() {
			m = 1
		}
		if !from.word.CompareAndSwap(v, v-pack(0, m)) {
			continue
		}
		return w.assign(lo+n-m, m)
	}
}

// The methods below are called with Loop.mu held. Every move of more than one index is made
// under the lock, so no worker that looks can miss a range that is being moved. Only the
// owner of a range takes batches from it without the lock.

// wantBatches asks the workers with batches of several indexes to return the rest.
func (w *worker) wantBatches() {
	others := w.loop.batching
	if w.size > 1 {
		others--
	}
	if others > 0 {
		w.loop.halt.Or(wanted)
	}
}

// countStealable returns how many indexes are in stealable ranges.
func (l *Loop) countStealable() (sum int) {
	for s := l.stealables.Load(); s != nil; s = s.next {
		_, n := unpack(s.word.Load())
		sum += n
	}
	return sum
}

// longest returns the longest stealable range, and its word.
func (l *Loop) longest() (best *stealable, word uint64) {
	for s := l.stealables.Load(); s != nil; s = s.next {
		if v := s.word.Load(); v&maxRange > word&maxRange {
			best, word = s, v
		}
	}
	return best, word
}

// claimMany claims the next n indexes, or as many as there are.
func (w *worker) claimMany(n int) bool {
	l := w.loop
	for {
		lo := l.next.Load()
		if lo >= uint64(l.N) {
			return false
		}
		n := min(n, l.N-int(lo))
		if l.next.CompareAndSwap(lo, lo+uint64(n)) { // others claim one without the lock
			return w.assign(int(lo), n)
		}
	}
}

// assign gives w the n indexes from lo: a batch, and the rest as its stealable range. If w
// has no range, n is 1.
func (w *worker) assign(lo, n int) bool {
	m := min(w.sizeAt(lo), n)
	if w.claimed != nil {
		w.claimed.word.Store(pack(lo+m, n-m))
	}
	w.set(lo, m)
	return true
}

// ownRange gives w a stealable range, and reports whether it has one.
func (w *worker) ownRange() bool {
	if w.claimed != nil {
		return true
	}
	l := w.loop
	count := 0
	for s := l.stealables.Load(); s != nil; s = s.next {
		if _, n := unpack(s.word.Load()); !s.held && n == 0 {
			s.held, w.claimed = true, s
			return true
		}
		count++
	}
	if count >= l.Procs {
		w.single = true
		return false
	}
	w.claimed = &stealable{held: true, next: l.stealables.Load()}
	l.stealables.Store(w.claimed)
	return true
}

// The methods below are called without Loop.mu.

// setBatchSize sets the size of the batches of w. A worker is counted in batching before it
// has more than one index in its batch. A size of 1 returns the rest of the batch.
func (w *worker) setBatchSize(n int) {
	if batching := n > 1; batching != (w.size > 1) {
		l := w.loop
		l.mu.Lock()
		defer l.mu.Unlock()
		if batching {
			l.batching++
		} else {
			l.batching--
			w.returnRest()
		}
	}
	w.size = n
}

// returnRest returns the indexes of the batch that were not started to the stealable range,
// which starts at the end of the batch. It is called with Loop.mu held.
func (w *worker) returnRest() {
	if n := w.rest(); n > 0 {
		w.claimed.word.Add(pack(-n, n))
		w.end -= n
	}
}

// leave returns the indexes that w has not started, leaves its range to be stolen from, and
// gives its State back.
func (w *worker) leave() {
	w.setBatchSize(1)
	l := w.loop
	if w.State != nil {
		l.Left(w.State)
		w.State = nil
	}
	if w.claimed == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	w.claimed.held = false
	w.claimed = nil
}
