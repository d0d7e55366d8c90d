package sorts

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/stint-go/stint/lab/experiment"
)

// A pattern is an order of n numbers.
type pattern struct {
	name string
	make maker[int]
}

// patterned are the orders that elements are in already, none of which is as slow to sort as no
// order at all, if one looks for it.
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

// longest are the patterns that are measured at ten million elements.
var longest = []string{"sorted", "reversed", "sixteen", "swapped"}

// team is a little more than where several goroutines begin to take part.
const team = 40_000

// patterns is elements that are in an order already, or few different ones.
func (z sizes) patterns(yield func(experiment.Study) bool) {
	for _, p := range patterned {
		for _, n := range append(z.lengths(1, 1e7), z.n(team)) {
			if n == z.n(1e7) && !slices.Contains(longest, p.name) {
				continue
			}
			if !yield(compare(z, p.kase("Sort", n), n, ints, p.make, ordered[int](), target{})) {
				return
			}
		}
		for _, n := range []int{z.n(100), z.n(10_000), z.n(team), z.n(long)} {
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

// counted are numbers that follow from their place.
func counted(at func(i, n int) int) maker[int] {
	return func(_ *rand.Rand, n int) []int { return made(n, func(i int) int { return at(i, n) }) }
}

// distinct are numbers of which there are k.
func distinct(k int) maker[int] {
	return draw(func(r *rand.Rand) int { return r.IntN(k) })
}

// swapped is a sorted slice in which one element of a hundred, or of fewer, has
// changed places with another.
func swapped(r *rand.Rand, n int) []int {
	s := made(n, func(i int) int { return i })
	for range (n + 99) / 100 {
		i, j := r.IntN(n), r.IntN(n)
		s[i], s[j] = s[j], s[i]
	}
	return s
}

// jitter is numbers of which each is less than four later than it should be.
func jitter(r *rand.Rand, n int) []int {
	return made(n, func(i int) int { return i + r.IntN(4) })
}

// appended is a sorted slice the end of which was appended: one element of a
// hundred, or of fewer.
func appended(r *rand.Rand, n int) []int {
	return made(n, func(i int) int {
		if i >= n-(n+99)/100 {
			return r.IntN(n)
		}
		return i
	})
}
