package par

import (
	"math/bits"
	"slices"
)

// SortFunc sorts s in ascending order as determined by cmp, as slices.SortFunc does: in place
// and not stable. cmp must be a strict weak ordering, and may be called concurrently. Slices of
// 16,384 elements or more are sorted on up to GOMAXPROCS goroutines. SortFunc returns when all
// of these goroutines have finished.
//
// SortFunc makes O(n log n) compares, and O(n) if s is in ascending or descending order. It
// allocates nothing on the caller's goroutine, and a few thousand bytes for each further
// goroutine.
//
// If cmp panics, the other goroutines finish their parts, of up to some ten thousand elements,
// and SortFunc panics with a *stint.PanicError. If cmp calls runtime.Goexit, the caller's
// goroutine ends. Either way, or if cmp contradicts itself, s holds the same elements in some
// order. SortFunc panics if cmp is nil.
func SortFunc[S ~[]E, E any](s S, cmp func(a, b E) int) {
	check("SortFunc", "cmp", cmp == nil)
	procs := goroutines(len(s))
	if procs == 1 {
		alone(func() { slices.SortFunc(s, cmp) })
		return
	}
	t := newTeam(procs)
	t.run(func() { quickFunc(t, s, cmp, 2*bits.Len(uint(len(s)/grain))) })
}

// quickFunc sorts v. Until its parts are short enough for one goroutine, it is a quicksort
// that swaps elements, as package slices does, so none is lost if cmp does not return.
func quickFunc[E any](t *team, v []E, cmp func(a, b E) int, limit int) {
	switch {
	case len(v) < 2*grain || limit == 0:
		slices.SortFunc(v, cmp)
		return
	case slices.IsSortedFunc(v, cmp):
		return
	}
	p := pivotFunc(v, cmp)
	n := partitionFunc(v, p, 0, cmp)
	if n == 0 { // p is the least
		equals := partitionFunc(v, p, 1, cmp)
		quickFunc(t, v[equals:], cmp, limit-1)
		return
	}
	t.both(
		func() { quickFunc(t, v[:n], cmp, limit-1) },
		func() { quickFunc(t, v[n:], cmp, limit-1) },
	)
}

// pivotFunc returns an element near the median of v.
func pivotFunc[E any](v []E, cmp func(a, b E) int) E {
	const samples = 63
	var some []E
	for i := range samples {
		some = append(some, v[len(v)/samples*i])
	}
	slices.SortFunc(some, cmp)
	return some[samples/2]
}

// partitionFunc moves the elements for which cmp(e, p) < least to the front, and returns how
// many there are. It is Hoare's, which moves an element once at most: compared with the call
// of cmp, a mispredicted branch matters less.
func partitionFunc[E any](v []E, p E, least int, cmp func(a, b E) int) int {
	i, j := 0, len(v)-1
	for {
		for i <= j && cmp(v[i], p) < least {
			i++
		}
		for i <= j && cmp(v[j], p) >= least {
			j--
		}
		if i > j {
			return i
		}
		v[i], v[j] = v[j], v[i]
		i++
		j--
	}
}
