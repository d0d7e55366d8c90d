package par

import "slices"

// A comparison is the quicksort of SortFunc. Elements are only ever swapped, so none is lost
// if cmp contradicts itself or does not return. Package slices does the same, which the
// tests check.
type comparison[E any] func(a, b E) int

// split is split for a comparison.
func (cmp comparison[E]) split(v []E, low *E) (l, r, passes int) {
	m := cmp.pivot(v)
	v[0], v[m] = v[m], v[0]
	if low == nil || cmp(*low, v[0]) < 0 {
		l, passes = cmp.partition(v, false), 1
	}
	if l == 0 {
		return 0, 1 + cmp.partition(v, true), passes + 1
	}
	v[0], v[l] = v[l], v[0]
	return l, l + 1, passes
}

// partition moves the elements that belong before the pivot v[0] to the front of v[1:], and
// returns how many there are. It is Hoare's, which moves an element once at most: compared
// with the call of cmp, a mispredicted branch matters less.
func (cmp comparison[E]) partition(v []E, least bool) int {
	i, j := 1, len(v)-1
	for {
		for i <= j && cmp.before(v, i, least) {
			i++
		}
		for i <= j && !cmp.before(v, j, least) {
			j--
		}
		if i >= j {
			return j
		}
		v[i], v[j] = v[j], v[i]
		i++
		j--
	}
}

// before reports whether v[i] belongs before the pivot in v[0], or, if the pivot is the
// least element, is equal to it.
func (cmp comparison[E]) before(v []E, i int, least bool) bool {
	if least {
		return cmp(v[0], v[i]) >= 0
	}
	return cmp(v[i], v[0]) < 0
}

// run returns how many elements at the front of v are in order. If nearly all are in
// the opposite order, it turns them round.
func (cmp comparison[E]) run(v []E) int {
	n := 1
	for n < len(v) && cmp(v[n], v[n-1]) <= 0 {
		n++
	}
	if len(v)-n <= stdMax {
		if cmp(v[n-1], v[0]) < 0 {
			slices.Reverse(v[:n])
		}
		return n
	}
	n = 1
	for n < len(v) && cmp(v[n], v[n-1]) >= 0 {
		n++
	}
	return n
}

// pivot is pivot for a comparison.
func (cmp comparison[E]) pivot(v []E) int {
	n := len(v) / 8
	return cmp.median(v, n+n/2, 3*n+n/2, 5*n+n/2, n)
}

// median is median for a comparison.
func (cmp comparison[E]) median(v []E, a, b, c, n int) int {
	if n >= 8 {
		n /= 8
		a = cmp.median(v, a+n+n/2, a+3*n+n/2, a+5*n+n/2, n)
		b = cmp.median(v, b+n+n/2, b+3*n+n/2, b+5*n+n/2, n)
		c = cmp.median(v, c+n+n/2, c+3*n+n/2, c+5*n+n/2, n)
	}
	if cmp(v[b], v[a]) < 0 {
		a, b = b, a
	}
	if cmp(v[c], v[b]) < 0 {
		b = c
		if cmp(v[b], v[a]) < 0 {
			b = a
		}
	}
	return b
}
