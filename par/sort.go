package par

import (
	"cmp"
	"reflect"
	"runtime"
	"slices"
)

// Sort sorts s in ascending order, as slices.Sort does: in place, not stable, and NaNs
// before other numbers. Slices of 32,768 elements or more are sorted on up to GOMAXPROCS
// goroutines. Sort returns when all of them have finished.
//
// Sort makes O(n log n) compares, and O(n) if s is in ascending or descending order. It
// allocates nothing on one goroutine, and a few hundred bytes for each further one.
func Sort[S ~[]E, E cmp.Ordered](s S) { order([]E(s)) }

const (
	insertionMax = 12  // elements are sorted by insertion, as slices.Sort does, with a call less
	stdMax       = 128 // elements are left to slices.Sort, the fastest for the usual patterns
)

// order is Sort. It is small, so a short slice pays for one call.
func order[E cmp.Ordered](v []E) {
	if len(v) > stdMax {
		orderMany(v)
		return
	}
	if len(v) > insertionMax {
		slices.Sort(v)
		return
	}
	for i := 1; i < len(v); i++ {
		for j := i; j > 0 && cmp.Less(v[j], v[j-1]); j-- {
			v[j], v[j-1] = v[j-1], v[j]
		}
	}
}

// orderMany sorts v by a quicksort, unless something else is faster for its order.
func orderMany[E cmp.Ordered](v []E) {
	n := run(v)
	if len(v)-n <= tail(v) {
		order(v[n:])
		insert(v, n)
		return
	}
	several := teams(len(v))
	if regular(v, n) && (!several || nearly(v)) {
		slices.Sort(v)
		return
	}
	switch reflect.TypeFor[E]().Kind() {
	case reflect.Float32, reflect.Float64:
		v = v[nans(v):]
	}
	if !several {
		quick(v, nil, depth(len(v)))
		return
	}
	t := newTeam(runtime.GOMAXPROCS(0))
	o := &ordering[E]{t, ascending[E], split[E], finish[E]}
	t.run(func() { o.sort(v, nil, depth(len(v))) })
}

// finish sorts a part of a slice.
func finish[E cmp.Ordered](v []E, low *E, limit int) {
	if len(v) > stdMax && regular(v, 0) {
		slices.Sort(v)
		return
	}
	quick(v, low, limit)
}

// run returns how many elements at the front of v are in ascending order. If nearly all are
// in descending order, it reverses them first.
func run[E cmp.Ordered](v []E) int {
	n := 1
	for n < len(v) && v[n] <= v[n-1] {
		n++
	}
	if len(v)-n > tail(v) {
		return ascending(v)
	}
	if v[n-1] < v[0] {
		slices.Reverse(v[:n])
	}
	return n
}

// tail is how many elements at the end of v are merged into a run before them.
func tail[E any](v []E) int { return min(len(v)/8, stdMax) }

// ascending returns how many elements at the front of v are in order.
func ascending[E cmp.Ordered](v []E) int {
	n := 1
	for n < len(v) && v[n-1] <= v[n] {
		n++
	}
	return n
}

// insert merges the sorted v[n:] into the sorted v[:n], from the end.
func insert[E cmp.Ordered](v []E, n int) {
	var buffer [stdMax]E
	rest := buffer[:copy(buffer[:], v[n:])]
	for at := len(v) - 1; len(rest) > 0; at-- {
		x := rest[len(rest)-1]
		if n > 0 && cmp.Less(x, v[n-1]) {
			n--
			v[at] = v[n]
		} else {
			v[at] = x
			rest = rest[:len(rest)-1]
		}
	}
}

// regular reports whether v, in which v[:n] is sorted, seems to consist of long runs, for
// which slices.Sort is faster: its branches are predicted. Then at most two of eight pieces
// of four elements are out of order, which a random slice has once in 100,000 times.
func regular[E cmp.Ordered](v []E, n int) bool {
	if n >= 16 && len(v) < 1024 {
		return true
	}
	step, bad := (len(v)-4)/7, 0
	for i := 0; i < 8 && bad <= 2; i++ {
		w := v[i*step:][:4]
		rises := w[0] <= w[1] && w[1] <= w[2] && w[2] <= w[3]
		falls := w[0] >= w[1] && w[1] >= w[2] && w[2] >= w[3]
		if !rises && !falls {
			bad++
		}
	}
	return bad <= 2
}

// nearly reports whether v seems to be in ascending or descending order but for a few
// scattered elements: then slices.Sort is faster than a small team, whose branchless
// partition destroys the order. The longer v is, the better the order must be.
func nearly[E cmp.Ordered](v []E) bool {
	step, up, down := len(v)/32, 0, 0
	if len(v) >= 4*minTeamElements {
		step = len(v) / 1024
	}
	count := func(a, b E) {
		if a < b {
			up++
		} else if b < a {
			down++
		}
	}
	for i := step; i < len(v); i += min(step, len(v)-i) {
		count(v[i-step], v[i])
	}
	for i := len(v) - 7; i < len(v); i++ {
		count(v[i-1], v[i])
	}
	return min(up, down) <= 2
}

// nans moves the NaNs to the front and returns how many there are.
func nans[E cmp.Ordered](v []E) int {
	n := 0
	for i, x := range v {
		if x != x {
			v[i], v[n] = v[n], x
			n++
		}
	}
	return n
}
