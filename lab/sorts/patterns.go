package sorts

import (
	"fmt"
	"slices"
)

// A pattern is an order of n numbers.
type pattern struct {
	name string
	make func(n int) []int
}

// patterned are the orders of row S2, none of which is as slow to sort as no
// order at all, if one looks for it.
var patterned = []pattern{
	{"sorted", func(n int) []int { return made(n, func(i int) int { return i }) }},
	{"reversed", func(n int) []int { return made(n, func(i int) int { return n - i }) }},
	{"equal", func(n int) []int { return made(n, func(int) int { return 42 }) }},
	{"two", func(n int) []int { return distinct(n, 2) }},
	{"sixteen", func(n int) []int { return distinct(n, 16) }},
	{"pipe", func(n int) []int { return made(n, func(i int) int { return min(i, n-i) }) }},
	{"saw", func(n int) []int { return made(n, func(i int) int { return i % (n/10 + 1) }) }},
	{"swapped", swapped},
	{"appended", appended},
}

// longest are the patterns that are measured at ten million elements.
var longest = []string{"sorted", "reversed", "sixteen", "swapped"}

// patterns is elements that are in an order already, or few different ones.
func (z sizes) patterns(yield func(study) bool) {
	for _, p := range patterned {
		for _, n := range z.lengths(1, 1e7) {
			if n == z.n(1e7) && !slices.Contains(longest, p.name) {
				continue
			}
			if !yield(compare(z, p.kase("Sort", n), ints, p.make(n), ordered[int](), target{})) {
				return
			}
		}
		for _, n := range []int{z.n(100), z.n(10_000), z.n(1e6)} {
			if !yield(compare(z, p.kase("SortFunc", n), ints, p.make(n), compared(ints.cmp), target{})) ||
				!yield(compare(z, p.kase("SortStableFunc", n), records, recordsOf(p.make(n)), stable(byKey), target{})) {
				return
			}
		}
	}
}

func (p pattern) kase(sort string, n int) string {
	return fmt.Sprintf("row=S2/sort=%s/order=%s/n=%d", sort, p.name, n)
}

func made(n int, at func(i int) int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = at(i)
	}
	return out
}

// distinct is numbers of which there are k.
func distinct(n, k int) []int {
	r := source()
	return made(n, func(int) int { return r.IntN(k) })
}

// swapped is a sorted slice in which one element of a hundred has changed
// places with another.
func swapped(n int) []int {
	s := made(n, func(i int) int { return i })
	r := source()
	for range n / 100 {
		i, j := r.IntN(n), r.IntN(n)
		s[i], s[j] = s[j], s[i]
	}
	return s
}

// appended is a sorted slice to whose end others were appended, one for a
// hundred.
func appended(n int) []int {
	r := source()
	return made(n, func(i int) int {
		if i >= n-n/100 {
			return r.IntN(n)
		}
		return i
	})
}
