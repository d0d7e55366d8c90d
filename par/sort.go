package par

import (
	"cmp"
	"math/bits"
	"reflect"
	"runtime"
	"slices"
)

// Sort sorts s in ascending order, as slices.Sort does: in place, not stable, and NaNs before
// other numbers. Slices of 16,384 elements or more are sorted on up to GOMAXPROCS goroutines.
// Sort returns when all of these goroutines have finished.
//
// Sort makes O(n log n) compares, and O(n) if s is in ascending or descending order. It
// allocates nothing on the caller's goroutine, and a few hundred bytes for each further
// goroutine.
func Sort[S ~[]E, E cmp.Ordered](s S) {
	v := []E(s)
	if len(v) <= stdMax {
		slices.Sort(v)
		return
	}
	if n := run(v); len(v)-n <= stdMax {
		slices.Sort(v[n:])
		insert(v, n)
		return
	}
	procs := goroutines(len(v))
	if procs == 1 && regular(v) {
		slices.Sort(v)
		return
	}
	switch reflect.TypeFor[E]().Kind() {
	case reflect.Float32, reflect.Float64:
		v = v[nans(v):]
	}
	var t *team
	if procs > 1 {
		t = newTeam(procs)
	}
	quick(t, v, nil, 2*bits.Len(uint(len(v))))
}

const (
	stdMax = 128     // elements are left to package slices
	grain  = 1 << 13 // elements are sorted or merged by one goroutine
)

// goroutines returns how many goroutines may sort n elements.
func goroutines(n int) int {
	if n < 2*grain {
		return 1
	}
	return runtime.GOMAXPROCS(0)
}

// run returns how many elements at the front of v are in ascending order. If nearly all are
// in descending order, it reverses them first.
func run[E cmp.Ordered](v []E) int {
	n := 1
	for n < len(v) && v[n] <= v[n-1] {
		n++
	}
	if len(v)-n <= stdMax {
		slices.Reverse(v[:n])
		return n
	}
	n = 1
	for n < len(v) && v[n-1] <= v[n] {
		n++
	}
	return n
}

// insert merges the sorted v[n:], which is short, into the sorted v[:n], from the end.
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

// regular reports whether v seems to consist of long runs, for which slices.Sort is faster:
// its branches are predicted. Then at most two of eight pieces of four elements are out of
// order, which a random slice has once in 100,000 times.
func regular[E cmp.Ordered](v []E) bool {
	step, bad := (len(v)-4)/7, 0
	for i := range 8 {
		w := v[i*step:][:4]
		rises := w[0] <= w[1] && w[1] <= w[2] && w[2] <= w[3]
		falls := w[0] >= w[1] && w[1] >= w[2] && w[2] >= w[3]
		if !rises && !falls {
			bad++
		}
	}
	return bad <= 2
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
