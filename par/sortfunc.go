package par

import (
	"runtime"
	"slices"
)

// SortFunc sorts s in ascending order as cmp determines it, as slices.SortFunc
// does: in place, not stable, so equal elements may come in another order than
// there. cmp(a, b) returns a negative number if a comes before b, a positive one if
// it comes after b, and zero if neither; it must be a strict weak ordering, and may
// be called on several goroutines at once. A slice of 32,768 elements or more is
// sorted on as many processors as GOMAXPROCS allows at the call, a smaller one on
// the caller's goroutine. It returns when all of them are done.
//
// It makes O(n log n) compares, and O(n) if s is sorted already or in the opposite
// order. It allocates nothing on one goroutine, and otherwise a few hundred bytes
// for each further one that it starts.
//
// If cmp panics, the other goroutines finish the part that they sort, of up to some
// ten thousand elements, and the panic is raised again in the caller as a
// *PanicError. If it calls runtime.Goexit, the caller's goroutine ends after they
// have stopped. Then, and if cmp contradicts itself, s holds the same elements in
// some order. SortFunc panics if cmp is nil.
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
	if len(v) > tiny {
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
		case len(v)-n <= few:
			slices.SortFunc(v, cmp)
		default:
			o.sort(v, nil, depth(len(v)))
		}
	})
}
