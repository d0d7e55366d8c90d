package par

import (
	"cmp"
	"reflect"
	"runtime"
	"slices"
)

// Sort sorts s in ascending order, as slices.Sort does: in place, not stable, and
// NaNs before other numbers. Elements that are equal end up in any order, so 0 and
// -0 among each other too. A slice of 32,768 elements or more is sorted on as many
// processors as GOMAXPROCS allows at the call, a smaller one on the caller's
// goroutine. It returns when all of them are done.
//
// It makes O(n log n) compares whatever the order, and O(n) if s is sorted already
// or in the opposite order. It allocates nothing on one goroutine, and otherwise a
// few hundred bytes for each further one that it starts. The algorithm is a
// quicksort whose partitions have no branches, after those of Andrei Alexandrescu,
// Lukas Bergdoll and Orson Peters; what is short, or consists of long runs, is left
// to slices.Sort, where that is the faster.
func Sort[S ~[]E, E cmp.Ordered](s S) { order([]E(s)) }

const (
	tiny = 12  // elements that are inserted, by slices.Sort too; one call less
	few  = 128 // elements of which slices.Sort sorts the usual patterns fastest
)

// order is Sort. It is short so that a short slice pays for one call.
func order[E cmp.Ordered](v []E) {
	if len(v) > few {
		orderMany(v)
		return
	}
	if len(v) > tiny {
		slices.Sort(v)
		return
	}
	for i := 1; i < len(v); i++ {
		for j := i; j > 0 && cmp.Less(v[j], v[j-1]); j-- {
			v[j], v[j-1] = v[j-1], v[j]
		}
	}
}

// orderMany looks for what is faster than a quicksort before it begins one.
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
	if len(v) > few && regular(v, 0) {
		slices.Sort(v)
		return
	}
	quick(v, low, limit)
}

// run returns how many elements at the front of v are in order. If nearly all are in
// the opposite order, it turns them round.
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
func tail[E any](v []E) int { return min(len(v)/8, few) }

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
	var buffer [few]E
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

// regular reports whether v, in which v[:n] is known to be sorted, seems to consist
// of long runs, up or down, which slices.Sort is the faster for: its branches are
// predicted. Of eight pieces of four elements at most two are out of order then; of
// a random slice so many are once in 100,000 times.
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

// nearly reports whether v seems to be in order, or in the opposite one, but for
// some elements here and there, and none that were appended: then slices.Sort is
// faster than a small team. A team partitions it without a branch, and then most of it
// is out of order. The longer v is, the better the order must be.
func nearly[E cmp.Ordered](v []E) bool {
	step, up, down := len(v)/32, 0, 0
	if len(v) >= 4*teamed {
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
