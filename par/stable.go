package par

import (
	"runtime"
	"slices"
)

const (
	stableStd   = 128      // elements are left to slices.SortStableFunc: a buffer does not pay
	stableAlone = 16 << 10 // elements are sorted by one goroutine
	stableGrain = 5000     // elements are worth a goroutine of their own
)

// SortStableFunc sorts s in ascending order as determined by cmp, and keeps the order of
// equal elements, as slices.SortStableFunc does. cmp must be a strict weak ordering, and
// may be called concurrently, on up to GOMAXPROCS goroutines. SortStableFunc returns when
// all of them have finished.
//
// It is a merge sort, which makes O(n log n) compares. For more than 128 elements it
// allocates a buffer of len(s) elements, unless s is in ascending or strictly descending
// order, which takes len(s)-1 compares.
//
// If cmp panics, SortStableFunc panics with a *stint.PanicError. If cmp calls runtime.Goexit, the
// caller's goroutine ends. Either way, or if cmp contradicts itself, s holds the same elements in
// some order. SortStableFunc panics if cmp is nil.
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

// sortTogether is sortAlone on all CPUs.
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

// leadingRun returns how many elements at the front of s, which has two or more, are in
// order. It reverses a strictly descending run.
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

// jitter reports whether s seems to be in order but for neighbours, as events that come a
// little late are. Package slices sorts such a slice without moving the other elements.
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

// insertRun merges the sorted s[i:] into the sorted s[:i], from the end: all elements that go
// after an element of the shorter run move at once. Before each call of cmp, the elements
// that are in rest but not in s fit into the gap s[i:i+len(rest)].
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

// behind returns how many elements of the sorted s go after x. It is ahead from the end.
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
