package sort

import (
	"cmp"
	"fmt"
	"math/rand/v2"

	"github.com/stint-go/stint/lab/experiment"
)

// random measures elements in random order.
func (z sizes) random(yield func(experiment.Study) bool) {
	for _, n := range z.lengths(10, 1e7) {
		if !z.drawn(n, yield) {
			return
		}
	}
	n := z.n(long)
	keys := keyed(draw(func(r *rand.Rand) int { return r.IntN(n) })) // some are equal
	byFunc, inOrder := target{all: 1.8, stretch: 1.85}, target{one: 3, all: 5.5, stretch: 6}
	difference := func(a, b int) int { return a - b } // for numbers that are not negative
	_ = yield(compare(z, name("SortFunc", records.name, n), n, records, keys, withHalves(compared(byKey), byKey), byFunc)) &&
		yield(compare(z, name("SortStableFunc", ints.name, n), n, ints, draw((*rand.Rand).Int), withHalves(stable(ints.cmp), ints.cmp), inOrder)) &&
		yield(compare(z, name("SortStableFunc", "ints-by-difference", n), n, ints, draw((*rand.Rand).Int), withHalves(stable(difference), difference), inOrder)) &&
		yield(compare(z, name("SortStableFunc", records.name, n), n, records, keys, withHalves(stable(byKey), byKey), inOrder))
}

// drawn measures n numbers, and n strings up to long.
func (z sizes) drawn(n int, yield func(experiment.Study) bool) bool {
	faster := map[string]target{}
	if n == z.n(long) {
		faster = map[string]target{ints.name: {one: 3, all: 4.5, stretch: 5}, floats.name: {all: 3}, strs.name: {all: 2.5}}
	}
	return yield(sortsDrawn(z, n, ints, (*rand.Rand).Int, faster)) &&
		yield(sortsDrawn(z, n, floats, (*rand.Rand).NormFloat64, faster)) &&
		(n > z.n(long) || yield(sortsDrawn(z, n, strs, digits, faster)))
}

// sortsDrawn compares sorts of random elements, without the hand-written one
// where it would take another second per sample.
func sortsDrawn[E cmp.Ordered](z sizes, n int, e element[E], next func(r *rand.Rand) E, faster map[string]target) experiment.Study {
	sorters := ordered[E]()
	if n <= z.n(long) {
		sorters = withHalves(sorters, e.cmp)
	}
	return compare(z, name("Sort", e.name, n), n, e, draw(next), sorters, faster[e.name])
}

// name returns the name of a case.
func name(sort, of string, n int) string {
	return fmt.Sprintf("sort=%s/order=random/of=%s/n=%d", sort, of, n)
}

// digits returns a string whose first bytes are always the same.
func digits(r *rand.Rand) string { return fmt.Sprintf("key-%016x", r.Uint64()) }
