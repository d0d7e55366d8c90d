package par

import (
	"runtime"
	"slices"
)

const (
	// stableStd is how many elements are left to slices.SortStableFunc: to allocate a
	// buffer for so few does not pay.
	stableStd = 128
	// stableAlone is how many elements are sorted by one goroutine.
	stableAlone = 16 << 10
	// stableGrain is the fewest elements that are worth a goroutine of their own.
	stableGrain = 5000
)

// SortStableFunc sorts s in ascending order as cmp says, and keeps the order of
// equal elements. cmp(a, b) is negative when a comes before b, positive when it
// comes after b, and 0 when they are equal; it must be a strict weak order, as for
// [slices.SortStableFunc], of which the result is the same. It is called by up to
// GOMAXPROCS goroutines at the same time, and for short slices by the caller's
// alone.
//
// It is a merge sort with a buffer: it allocates len(s) elements, where
// slices.SortStableFunc, which takes longer, allocates none. Up to 128 elements are
// left to that. Of more, runs that are sorted already are found and kept: one that
// makes up the whole of s, or strictly descends over the whole of s and is
// reversed, takes len(s)-1 calls of cmp and no buffer. Otherwise there are no more
// calls than len(s)*log2(len(s)) and a multiple of len(s).
//
// It returns when every call of cmp has returned, and no goroutine is left. A panic
// of cmp is raised again in the caller as a *PanicError; a call of runtime.Goexit
// ends the caller's goroutine. Either way s has all of its elements then, in some
// order, and so it has if the results of cmp contradict each other. It panics if
// cmp is nil.
//
// Nobody else may use s before it returns, and cmp may only read what it is given. The
// buffer is garbage after the call.
func SortStableFunc[S ~[]E, E any](s S, cmp func(a, b E) int) {
	check("SortStableFunc", "cmp", cmp == nil)
	alone(func() { sortStable(s, cmp) })
}

func sortStable[E any](s []E, cmp func(a, b E) int) {
	n := len(s)
	if n <= stableStd {
		slices.SortStableFunc(s, cmp)
		return
	}
	switch sorted := leadingRun(s, cmp); {
	case sorted == n:
	case n-sorted <= n/8:
		sortStable(s[sorted:], cmp)
		insertRun(s, sorted, cmp)
	case jitter(s, cmp):
		slices.SortStableFunc(s, cmp)
	case n <= stableAlone || runtime.GOMAXPROCS(0) == 1:
		sortAlone(s, make([]E, n), sorted, cmp)
	default:
		sortTogether(s, make([]E, n), sorted, cmp)
	}
}

// sortAlone sorts s, of which the first elements are sorted, on this goroutine.
func sortAlone[E any](s, buf []E, sorted int, cmp func(a, b E) int) {
	m := merger[E]{s: s, buf: buf, cmp: cmp}
	if m.sort(0, len(s), sorted, len(s)-1, false) {
		m.move(0, len(s), false)
	}
}

// sortTogether is sortAlone on all processors.
func sortTogether[E any](s, buf []E, sorted int, cmp func(a, b E) int) {
	procs := runtime.GOMAXPROCS(0)
	m := &mergers[E]{
		merger: merger[E]{s: s, buf: buf, cmp: cmp},
		team:   newTeam(procs),
		grain:  max(len(s)/(8*procs), stableGrain),
	}
	m.team.run(func() {
		if m.sort(0, len(s), sorted, len(s)-1, false) {
			m.move(0, len(s), false)
		}
	})
}

// leadingRun returns how many elements at the beginning of s, of two or more, are
// sorted. If they strictly descended, it has reversed them.
func leadingRun[E any](s []E, cmp func(a, b E) int) int {
	i, falls := 2, cmp(s[1], s[0]) < 0
	for i < len(s) && cmp(s[i], s[i-1]) < 0 == falls {
		i++
	}
	if falls {
		slices.Reverse(s[:i])
	}
	return i
}

// jitter reports whether s seems to be in order but for neighbours, as events are
// that come a little late: package slices sorts these without moving the others.
// Where neighbours are in order too there are long runs, which are better merged.
func jitter[E any](s []E, cmp func(a, b E) int) bool {
	const near = 8
	step := max(4*near, len(s)/256)
	samples, late := 0, 0
	for i := near; i < len(s); i += min(step, len(s)-i) {
		if cmp(s[i], s[i-near]) < 0 {
			return false
		}
		if cmp(s[i], s[i-1]) < 0 {
			late++
		}
		samples++
	}
	return late > samples/16
}

// insertRun merges the sorted s[i:] into the sorted s[:i], from the end: what goes
// after an element of the shorter run moves at once. Before each call of cmp, what
// is in rest but not in s fits into the gap s[i:i+len(rest)].
func insertRun[E any](s []E, i int, cmp func(a, b E) int) {
	rest := slices.Clone(s[i:])
	defer func() { copy(s[i:], rest) }() // of a call of cmp that does not return
	for len(rest) > 0 {
		last := len(rest) - 1
		n := behind(s[:i], rest[last], cmp)
		copy(s[i+last+1-n:], s[i-n:i])
		i -= n
		s[i+last] = rest[last]
		rest = rest[:last]
	}
}

// behind returns how many elements of the sorted s go after x: as ahead, from the
// end.
func behind[E any](s []E, x E, cmp func(a, b E) int) int {
	n := uint(len(s))
	lo, hi := uint(0), uint(1) // twice the largest int is an uint
	for hi <= n && cmp(x, s[n-hi]) < 0 {
		lo, hi = hi, 2*hi
	}
	for hi = min(hi-1, n); lo < hi; {
		if mid := (lo + hi) / 2; cmp(x, s[n-1-mid]) < 0 {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return int(lo)
}
