package par

import "slices"

// SortStableFunc sorts s in ascending order as determined by cmp, and keeps the order of equal
// elements, as slices.SortStableFunc does. cmp must be a strict weak ordering, and may be
// called concurrently, on up to GOMAXPROCS goroutines. SortStableFunc returns when all of these
// goroutines have finished.
//
// It is a merge sort, which makes O(n log n) compares. For more than 128 elements it allocates
// a buffer of at most len(s) elements. The elements at the front of s that are in ascending or
// strictly descending order need no buffer. A slice in such an order takes len(s)-1 compares.
//
// If cmp panics, SortStableFunc panics with a *stint.PanicError. If cmp calls runtime.Goexit,
// the caller's goroutine ends. Either way, or if cmp contradicts itself, s holds the same
// elements in some order. SortStableFunc panics if cmp is nil.
func SortStableFunc[S ~[]E, E any](s S, cmp func(a, b E) int) {
	check("SortStableFunc", "cmp", cmp == nil)
	if len(s) <= stdMax {
		alone(func() { slices.SortStableFunc(s, cmp) })
		return
	}
	sortStable(s, cmp)
}

// sortStable sorts s, which has two elements or more.
func sortStable[E any](s []E, cmp func(a, b E) int) {
	t := newTeam(goroutines(len(s)))
	m := &merger[E]{cmp: cmp, team: t}
	t.run(func() {
		if _, up := m.runAround(s, 1, 0, len(s)); up < len(s) {
			m.sort(s, make([]E, len(s)-up), up, len(s)-1)
		}
	})
}
