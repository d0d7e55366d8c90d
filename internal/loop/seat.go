package loop

import "sync/atomic"

// A seat holds what its worker has claimed beyond its span: a range of indexes,
// of which others may steal. There are as many seats as processors; a worker
// without one takes one index at a time, so that looking for something to steal
// stays short however many workers there are.
type seat struct {
	word atomic.Uint64 // a packed range
	next *seat
	held bool // guarded by Loop.mu
	_    [56 - 2*pointer]byte
}

const pointer = 4 << (^uintptr(0) >> 63) // the size of one

// A range is packed as its first index and, in the low bits, its length. The word
// of a seat is the whole state: that it had another value meanwhile is no harm.
const (
	lengthBits = 16
	maxLength  = 1<<lengthBits - 1
	maxIndex   = 1<<(64-lengthBits) - 1
)

// The sum of two packed ranges has the sums of their parts.
func pack(lo, n int) uint64 { return uint64(lo)<<lengthBits + uint64(n) }

func unpack(v uint64) (lo, n int) { return int(v >> lengthBits), int(v & maxLength) }

// left returns how many indexes anybody could have: those that are neither begun
// nor in a span.
func (l *Loop) left() int {
	n := l.unclaimed() // first: what is claimed after this is in a seat when mu is free
	if n > 1 || l.seats.Load() == nil {
		return n
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return n + l.seated()
}

// unclaimed returns how many indexes were never claimed.
func (l *Loop) unclaimed() int { return l.N - int(min(l.next.Load(), uint64(l.N))) }

// exhausted reports whether nothing is left and nothing can come back.
func (l *Loop) exhausted() bool {
	if l.unclaimed() > 0 {
		return false
	}
	if l.seats.Load() == nil {
		return true
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.deep == 0 && l.seated() == 0
}

// take gives w its next span, and reports false when nothing is left for it or
// the loop is stopped.
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
		w.learn()
	}
	if w.width > l.widest() { // the limit has grown at the end of a span: no Begin was refused
		w.widen(1)
	}
	for w.seat != nil { // its own, of which a thief may take the back meanwhile
		v := w.seat.word.Load()
		lo, n := unpack(v)
		if n == 0 {
			break
		}
		n = min(n, w.narrow(lo))
		if w.seat.word.CompareAndSwap(v, v+pack(n, -n)) {
			w.set(lo, n)
			return true
		}
	}
	return w.claim() || w.steal()
}

// narrow returns the width of a span that begins at lo. Near the end of a loop that
// computes, spans become short, so that all workers end together.
func (w *worker) narrow(lo int) int {
	l := w.loop
	if !l.Compute {
		return w.width
	}
	width := min(w.width, max(w.width/16, (l.N-lo)/(8*l.Procs), 1))
	if width >= 2*some {
		width -= (lo + width) & (some - 1)
	}
	return width
}

// claim takes indexes that nobody has claimed.
func (w *worker) claim() bool {
	l := w.loop
	if l.unclaimed() == 0 { // so that next stays near N whatever the number of workers
		return false
	}
	if n := w.chunk(); n > 1 {
		l.mu.Lock()
		defer l.mu.Unlock()
		if w.sit() {
			return w.claimMany(n)
		}
	}
	return w.claimOne()
}

// claimOne claims the next index, if there is one. Others may have claimed the last, or
// cut the loop, since somebody looked.
func (w *worker) claimOne() bool {
	i := w.loop.next.Add(1) - 1
	if i >= uint64(w.loop.N) {
		return false
	}
	w.set(int(i), 1)
	return true
}

// steal takes the back half of the longest range that is in a seat: for a worker
// without one its last index.
func (w *worker) steal() bool {
	l := w.loop
	if l.seats.Load() == nil {
		return false // nobody has claimed more than one index
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for {
		from, v := l.longest()
		lo, n := unpack(v)
		if n == 0 {
			w.want()
			return false
		}
		m := n - n/2
		if !w.sit() {
			m = 1
		}
		if !from.word.CompareAndSwap(v, v-pack(0, m)) {
			continue
		}
		return w.deal(lo+n-m, m)
	}
}

// The functions below are called with Loop.mu held. Every move of more than one
// index is made under it, so nobody can look while a range is neither here nor
// there. The owner of a seat takes spans from it without.

// want asks those with wide spans to give back what they have not begun.
func (w *worker) want() {
	others := w.loop.deep
	if w.width > 1 {
		others--
	}
	if others > 0 {
		w.loop.halt.Or(wanted)
	}
}

// seated returns how many indexes are in the seats.
func (l *Loop) seated() (sum int) {
	for s := l.seats.Load(); s != nil; s = s.next {
		_, n := unpack(s.word.Load())
		sum += n
	}
	return sum
}

// longest returns the seat with the longest range, and its word.
func (l *Loop) longest() (best *seat, word uint64) {
	for s := l.seats.Load(); s != nil; s = s.next {
		if v := s.word.Load(); v&maxLength > word&maxLength {
			best, word = s, v
		}
	}
	return best, word
}

// claimMany claims the next n indexes, or what is left of them.
func (w *worker) claimMany(n int) bool {
	l := w.loop
	for {
		lo := l.next.Load()
		if lo >= uint64(l.N) {
			return false
		}
		n := min(n, l.N-int(lo))
		if l.next.CompareAndSwap(lo, lo+uint64(n)) { // others claim one without the lock
			return w.deal(int(lo), n)
		}
	}
}

// deal makes n indexes from lo the worker's: a span, and the rest in its seat. Without a
// seat n is 1.
func (w *worker) deal(lo, n int) bool {
	m := min(w.narrow(lo), n)
	if w.seat != nil {
		w.seat.word.Store(pack(lo+m, n-m))
	}
	w.set(lo, m)
	return true
}

// sit gives w a seat, and reports whether it has one.
func (w *worker) sit() bool {
	if w.seat != nil {
		return true
	}
	l := w.loop
	count := 0
	for s := l.seats.Load(); s != nil; s = s.next {
		if _, n := unpack(s.word.Load()); !s.held && n == 0 {
			s.held, w.seat = true, s
			return true
		}
		count++
	}
	if count >= l.Procs {
		w.seatless = true
		return false
	}
	w.seat = &seat{held: true, next: l.seats.Load()}
	l.seats.Store(w.seat)
	return true
}

// widen sets the width of the spans. A worker with more than one index in hand is
// counted, before it has them, among those that may give some back.
func (w *worker) widen(width int) {
	if deep := width > 1; deep != (w.width > 1) {
		l := w.loop
		l.mu.Lock()
		defer l.mu.Unlock()
		if deep {
			l.deep++
		} else {
			l.deep--
			w.giveBack()
		}
	}
	w.width = width
}

// giveBack puts what w has taken and not begun in front of what is in its seat,
// which begins where the span ends.
func (w *worker) giveBack() {
	if n := w.rest(); n > 0 {
		w.seat.word.Add(pack(-n, n))
		w.end -= n
	}
}

// leave gives back what w has, and the seat; what is in that stays there for
// others.
func (w *worker) leave() {
	w.widen(1)
	if w.seat == nil {
		return
	}
	l := w.loop
	l.mu.Lock()
	defer l.mu.Unlock()
	w.seat.held = false
	w.seat = nil
}
