package sorts

import (
	"fmt"
	"math/rand/v2"
)

// random is elements in no order.
func (z sizes) random(yield func(study) bool) {
	for _, n := range z.lengths(10, 1e7) {
		if !z.drawn(n, yield) {
			return
		}
	}
	n := z.n(1e6)
	keys := keyed(draw(func(r *rand.Rand) int { return r.IntN(n) })) // some of them equal
	_ = yield(compare(z, name("S3", records.name, n), n, records, keys, withHalves(compared(byKey), byKey), target{all: 1.8, stretch: 1.85})) &&
		yield(compare(z, name("S4", ints.name, n), n, ints, draw((*rand.Rand).Int), withHalves(stable(ints.cmp), ints.cmp), target{one: 3, all: 5.5, stretch: 6})) &&
		yield(compare(z, name("S4", records.name, n), n, records, keys, withHalves(stable(byKey), byKey), target{one: 3, all: 5.5, stretch: 6}))
}

// drawn is n numbers, and n strings if they are not too many.
func (z sizes) drawn(n int, yield func(study) bool) bool {
	faster := map[string]target{}
	if n == z.n(1e6) {
		faster = map[string]target{ints.name: {one: 3, all: 4.5, stretch: 5}, floats.name: {all: 3}, strs.name: {all: 2.5}}
	}
	return yield(compare(z, name("S1", ints.name, n), n, ints, draw((*rand.Rand).Int), peers(n, ordered[int](), ints), faster[ints.name])) &&
		yield(compare(z, name("S1", floats.name, n), n, floats, draw((*rand.Rand).NormFloat64), peers(n, ordered[float64](), floats), faster[floats.name])) &&
		(n > z.n(1e6) || yield(compare(z, name("S1", strs.name, n), n, strs, draw(digits), peers(n, ordered[string](), strs), faster[strs.name])))
}

// peers are the ways, and the one that is written by hand if the slice is not so
// long that another second a sample is too much.
func peers[E any](n int, ways []way[E], e element[E]) []way[E] {
	if n > long {
		return ways
	}
	return withHalves(ways, e.cmp)
}

// name is the name of a case.
func name(row, of string, n int) string { return fmt.Sprintf("row=%s/of=%s/n=%d", row, of, n) }

// digits are a string, the first bytes of which are always the same.
func digits(r *rand.Rand) string { return fmt.Sprintf("key-%016x", r.Uint64()) }
