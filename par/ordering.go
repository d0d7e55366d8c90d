package par

import (
	"math/bits"
	"runtime"
)

const (
	teamed = 1 << 15 // elements of a slice that is sorted by a team
	forked = 1 << 13 // elements of a part that is worth a goroutine
)

// An ordering is how a team sorts: a quicksort whose parts are forked while
// processors are idle. Each partition bounds what is above it from below, so a part
// knows the largest element before it, if any: low. When the next pivot is not
// greater than that, it is the least of its part, and its equals are dropped.
type ordering[E any] struct {
	team *team

	// run returns how many elements at the front of v are in order; if that is all of
	// them, v is sorted.
	run func(v []E) int
	// split partitions v: what is in v[:l] is less than v[l], what is in v[r:] is not,
	// and v[l:r] is where it belongs. l is less than r. It compares each element
	// once a pass.
	split func(v []E, low *E) (l, r, passes int)
	// finish sorts a part on the goroutine at hand.
	finish func(v []E, low *E, limit int)
}

// teams reports whether a slice of n elements is sorted by more than one goroutine.
func teams(n int) bool { return n >= teamed && runtime.GOMAXPROCS(0) > 1 }

// depth is the limit to begin with for n elements.
func depth(n int) int { return 2 * bits.Len(uint(n)) }

// spent returns what is left of the limit after the passes of a partition of a part
// of which n elements at the front are in order. That is looked at first, because
// the parts between two pivots are in order when there are few keys. When it was in
// vain and took more than a few compares, it counts like a pass.
func spent(limit, n, passes int) int {
	if n > 16 {
		limit--
	}
	return limit - passes
}

// deep reports whether partitions that were too uneven have used up the limit of a
// part of n elements: each pass takes one from it, so one compare for every element,
// and a heapsort takes log n. That leaves log n passes to waste, and 2 n log n + O(n)
// compares in all, of ours: slices.SortFunc, to which SortFunc leaves its parts, has
// a limit of its own.
func deep(n, limit int) bool { return limit <= bits.Len(uint(n)) }

// sort sorts v, and may leave parts of it to other goroutines of the team. The
// smaller part is the one that is left to another, or done first: so the recursion
// is log n deep.
func (o *ordering[E]) sort(v []E, low *E, limit int) {
	for len(v) >= 2*forked && !deep(len(v), limit) {
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

// part sorts v, on a goroutine of its own if that is worth it and a processor is
// idle.
func (o *ordering[E]) part(v []E, low *E, limit int) {
	if len(v) < forked || !o.team.free() || !o.team.fork(func() { o.sort(v, low, limit) }) {
		o.sort(v, low, limit)
	}
}
