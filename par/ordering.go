package par

import (
	"math/bits"
	"runtime"
)

const (
	minTeamElements = 1 << 15 // elements of a slice that is sorted by a team
	minForkElements = 1 << 13 // elements of a part that is worth a goroutine
)

// An ordering is how a team sorts: a quicksort whose parts are forked while CPUs are idle.
// low is the largest element before a part, or nil. If the pivot of the part is not greater
// than low, it is the least element, and elements equal to it need no further sorting.
type ordering[E any] struct {
	team *team

	// run returns how many elements at the front of v are in order.
	run func(v []E) int
	// split partitions v: elements of v[:l] are less than v[l], elements of v[r:] are not,
	// and v[l:r] is in its final position. l is less than r. It compares each element once
	// in each pass.
	split func(v []E, low *E) (l, r, passes int)
	// finish sorts a part on the calling goroutine.
	finish func(v []E, low *E, limit int)
}

// teams reports whether a slice of n elements is sorted by more than one goroutine.
func teams(n int) bool { return n >= minTeamElements && runtime.GOMAXPROCS(0) > 1 }

// depth is the initial limit for n elements.
func depth(n int) int { return 2 * bits.Len(uint(n)) }

// spent returns the rest of the limit after a partition. n elements at the front were found
// to be in order; this is tested first because with few distinct keys whole parts are in
// order. A test that failed after more than 16 compares counts as a pass.
func spent(limit, n, passes int) int {
	if n > 16 {
		limit--
	}
	return limit - passes
}

// deep reports whether uneven partitions have used up the limit of a part of n elements.
// Each pass compares every element once and takes one from the limit, and a heapsort takes
// log n, so a sort makes at most 2 n log n + O(n) compares.
func deep(n, limit int) bool { return limit <= bits.Len(uint(n)) }

// sort sorts v, and may fork parts of it. The smaller part is forked or done first, so the
// recursion is log n deep.
func (o *ordering[E]) sort(v []E, low *E, limit int) {
	for len(v) >= 2*minForkElements && !deep(len(v), limit) {
		if o.team.stopped.Load() {
			return
		}
		n := o.run(v)
		if n == len(v) {
			return
		}
		l, r, passes := o.split(v, low)
		limit = spent(limit, n, passes)
		left, right, mid := v[:l], v[r:], &v[l]
		if len(left) < len(right) {
			o.part(left, low, limit)
			v, low = right, mid
		} else {
			o.part(right, mid, limit)
			v = left
		}
	}
	if !o.team.stopped.Load() {
		o.finish(v, low, limit)
	}
}

// part sorts v, on a goroutine of its own if that is worthwhile and a CPU is idle.
func (o *ordering[E]) part(v []E, low *E, limit int) {
	if len(v) < minForkElements || !o.team.free() || !o.team.fork(func() { o.sort(v, low, limit) }) {
		o.sort(v, low, limit)
	}
}
