package par

import (
	"runtime"
	"slices"
)

// SortFunc sorts s in ascending order as determined by cmp, as slices.SortFunc does: in
// place and not stable. cmp must be a strict weak ordering, and may be called concurrently.
// Slices of 32,768 elements or more are sorted on up to GOMAXPROCS goroutines. SortFunc
// returns when all of them have finished.
//
// SortFunc makes O(n log n) compares, and O(n) if s is in ascending or descending order. It
// allocates nothing on one goroutine, and a few hundred bytes for each further one.
//
// If cmp panics, the other goroutines finish their parts, of up to some ten thousand
// elements, and SortFunc panics with a *stint.PanicError. If cmp calls runtime.Goexit, the
// caller's goroutine ends. Either way, or if cmp contradicts itself, s holds the same
// elements in some order. SortFunc panics if cmp is nil.
func SortFunc[S ~[]E, E any](s S, cmp func(a, b E) int) {
	check("SortFunc", "cmp", cmp == nil)
	if teams(len(s)) {
		compareTeam([]E(s), cmp)
	} else {
		alone(func() { compare([]E(s), cmp) })
	}
}

// compare is SortFunc on the caller's goroutine.
func compare[E any](v []E, cmp func(a, b E) int) {
	if len(v) > insertionMax {
		slices.SortFunc(v, cmp)
		return
	}
	for i := 1; i < len(v); i++ {
		for j := i; j > 0 && cmp(v[j], v[j-1]) < 0; j-- {
			v[j], v[j-1] = v[j-1], v[j]
		}
	}
}

// compareTeam is SortFunc on several goroutines.
func compareTeam[E any](v []E, cmp func(a, b E) int) {
	t := newTeam(runtime.GOMAXPROCS(0))
	c := comparison[E](cmp)
	o := &ordering[E]{t, c.run, c.split, func(v []E, _ *E, _ int) { slices.SortFunc(v, cmp) }}
	t.run(func() {
		switch n := c.run(v); {
		case n == len(v):
		case len(v)-n <= stdMax:
			slices.SortFunc(v, cmp)
		default:
			o.sort(v, nil, depth(len(v)))
		}
	})
}
