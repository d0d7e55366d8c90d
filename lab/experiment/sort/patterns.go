package sort

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/stint-go/stint/lab/experiment"
)

// A pattern is an order of n numbers.
type pattern struct {
	name string
	make generator[int]
}

// patterned are the orders that occur in practice. Each can be sorted faster
// than random elements, if the sort detects it.
var patterned = []pattern{
	{"sorted", counted(func(i, _ int) int { return i })},
	{"reversed", counted(func(i, n int) int { return n - i })},
	{"falling", counted(func(i, _ int) int { return -i / 3 })},
	{"jitter", jitter},
	{"equal", counted(func(int, int) int { return 42 })},
	{"two", distinct(2)},
	{"sixteen", distinct(16)},
	{"pipe", counted(func(i, n int) int { return min(i, n-i) })},
	{"saw", counted(func(i, n int) int { return i % (n/10 + 1) })},
	{"swapped", swapped},
	{"appended", appended},
}

// longest are the patterns measured at ten million elements.
var longest = []string{"sorted", "reversed", "sixteen", "swapped"}

// parallelLength is slightly more than where sorting becomes parallel.
const parallelLength = 40_000

// patterns measures elements that are ordered already, or have few different
// values.
func (z sizes) patterns(yield func(experiment.Study) bool) {
	for _, p := range patterned {
		for _, n := range append(z.lengths(1, 1e7), z.n(parallelLength)) {
			if n == z.n(1e7) && !slices.Contains(longest, p.name) {
				continue
			}
			if !yield(compare(z, p.kase("Sort", n), n, ints, p.make, ordered[int](), target{})) {
				return
			}
		}
		for _, n := range []int{z.n(100), z.n(10_000), z.n(parallelLength), z.n(long)} {
			if !yield(compare(z, p.kase("SortFunc", n), n, ints, p.make, compared(ints.cmp), target{})) ||
				!yield(compare(z, p.kase("SortStableFunc", n), n, records, keyed(p.make), stable(byKey), target{})) {
				return
			}
		}
	}
}

func (p pattern) kase(sort string, n int) string {
	return fmt.Sprintf("sort=%s/order=%s/n=%d", sort, p.name, n)
}

// counted returns numbers computed from their index.
func counted(at func(i, n int) int) generator[int] {
	return func(_ *rand.Rand, n int) []int { return made(n, func(i int) int { return at(i, n) }) }
}

// distinct returns numbers with k different values.
func distinct(k int) generator[int] {
	return draw(func(r *rand.Rand) int { return r.IntN(k) })
}

// swapped is a sorted slice in which up to one element in a hundred is swapped
// with another.
func swapped(r *rand.Rand, n int) []int {
	s := made(n, func(i int) int { return i })
	for range (n + 99) / 100 {
		i, j := r.IntN(n), r.IntN(n)
		s[i], s[j] = s[j], s[i]
	}
	return s
}

// jitter returns numbers less than four above their index.
func jitter(r *rand.Rand, n int) []int {
	return made(n, func(i int) int { return i + r.IntN(4) })
}

// appended is a sorted slice followed by random elements, up to one in a
// hundred.
func appended(r *rand.Rand, n int) []int {
	return made(n, func(i int) int {
		if i >= n-(n+99)/100 {
			return r.IntN(n)
		}
		return i
	})
}
