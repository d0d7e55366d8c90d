package par

import (
	"cmp"
	"slices"
)

// The quicksort of Sort. Its partition is Lomuto's without a branch (Andrei Alexandrescu,
// "Lomuto's comeback", 2020), so nothing is mispredicted, and a random slice takes a third
// of the time of slices.Sort. The recursive median is from ipnsort (Lukas Bergdoll and
// Orson Peters, 2023). Dropping the equals of the pivot before a part is from pdqsort
// (Orson Peters).

// insertionLeaf is the number of elements up to which insertion is faster than partitions.
const insertionLeaf = 24

// quick sorts v, in which no element is less than *low. If the pivot of a part is not greater
// than *low, it is the least element, and elements equal to it need no further sorting. Parts
// are sorted concurrently while CPUs of t are idle; t may be nil. After limit partitions, one
// inside the other, package slices sorts the rest in O(n log n).
func quick[E cmp.Ordered](t *team, v []E, low *E, limit int) {
	for ; len(v) > insertionLeaf; limit-- {
		switch {
		case limit == 0:
			slices.Sort(v)
			return
		case slices.IsSorted(v):
			return
		}
		l, r := split(v, low)
		left, right, mid := v[:l], v[r:], &v[l]
		switch {
		case t != nil && len(v) >= 2*grain:
			quickBoth(t, left, right, low, mid, limit-1)
			return
		case len(left) < len(right):
			quick(t, left, low, limit-1)
			v, low = right, mid
		default:
			quick(t, right, mid, limit-1)
			v = left
		}
	}
	insertion(v)
}

// quickBoth sorts both parts of a slice. It is a function of its own because what its
// closures refer to is allocated.
func quickBoth[E cmp.Ordered](t *team, left, right []E, low, mid *E, limit int) {
	t.both(
		func() { quick(t, left, low, limit) },
		func() { quick(t, right, mid, limit) },
	)
}

// split moves a pivot to v[l], where it belongs, and lesser elements before it. If there are
// none, v[:r] are the equals of the pivot.
func split[E cmp.Ordered](v []E, low *E) (l, r int) {
	m := pivot(v)
	v[0], v[m] = v[m], v[0]
	p := v[0]
	if low == nil || *low < p {
		l = partition(v[1:], p)
	}
	if l == 0 {
		return 0, 1 + equals(v[1:], p)
	}
	v[0], v[l] = v[l], v[0]
	return l, l + 1
}

// partition moves the elements less than p to the front, and returns how many there are. In
// the loop v[:j] is less than p and v[j:i] is not. The compiler makes a SETcc of the
// condition, here and in equals.
func partition[E cmp.Ordered](v []E, p E) int {
	j := 0
	for i, x := range v {
		v[i], v[j] = v[j], x
		c := 0
		if x < p {
			c = 1
		}
		j += c
	}
	return j
}

// equals moves the elements not greater than p to the front, and returns how many there are.
func equals[E cmp.Ordered](v []E, p E) int {
	j := 0
	for i, x := range v {
		v[i], v[j] = v[j], x
		c := 1
		if p < x {
			c = 0
		}
		j += c
	}
	return j
}

// pivot returns the index of an element near the median of v, which has eight
// elements or more.
func pivot[E cmp.Ordered](v []E) int {
	n := len(v) / 8
	return median(v, n+n/2, 3*n+n/2, 5*n+n/2, n)
}

// median returns which of v[a], v[b] and v[c] is between the others. Unless n is small,
// each is first replaced by the median of three of the n elements that start there, so
// about the square root of n elements is read.
func median[E cmp.Ordered](v []E, a, b, c, n int) int {
	if n >= 8 {
		n /= 8
		a = median(v, a+n+n/2, a+3*n+n/2, a+5*n+n/2, n)
		b = median(v, b+n+n/2, b+3*n+n/2, b+5*n+n/2, n)
		c = median(v, c+n+n/2, c+3*n+n/2, c+5*n+n/2, n)
	}
	if v[b] < v[a] {
		a, b = b, a
	}
	if v[c] < v[b] {
		b = c
		if v[b] < v[a] {
			b = a
		}
	}
	return b
}

// insertion sorts v, which is short. It holds an element outside of v while it compares,
// which is safe because < returns.
func insertion[E cmp.Ordered](v []E) {
	for i := 1; i < len(v); i++ {
		x := v[i]
		j := i
		for ; j > 0 && x < v[j-1]; j-- {
			v[j] = v[j-1]
		}
		v[j] = x
	}
}
