package par

import (
	"math/bits"
	"slices"
)

const (
	// mergeLeaf is how many elements are sorted by insertion sooner than by merges.
	mergeLeaf = 20
	// mergeBlock is after how many elements of one side a merge looks how many more
	// there are.
	mergeBlock = 8
)

// A merger sorts s by merges from s into buf and from buf into s: an element
// moves once a level, and the last merge is into s.
//
// The way down is peeksort: J. Ian Munro and Sebastian Wild, Nearly-Optimal
// Mergesorts, ESA 2018. A range is divided at the end of a run, the one nearest to
// its middle, so runs are found by O(n) compares on the way and are not divided;
// on elements without runs it is the plain top-down merge sort.
//
// At every call of cmp each range of s holds the elements that it was given, in
// some order, unless a merge into it is under way, and then buf does: a merge, as
// insertion into buf, only reads where its elements are. So a merge that does not
// come to its end is undone by a copy. That is what the holes of rayon's merges do
// for one element at a time.
type merger[E any] struct {
	s, buf []E
	cmp    func(a, b E) int
}

// sort sorts s[lo:hi], in which s[lo:up] and s[down:hi] are sorted. It puts the
// result into buf if toBuf is set, and otherwise into s, or leaves it where it is
// when there is nothing to merge. It reports whether the result is in buf.
func (m *merger[E]) sort(lo, hi, up, down int, toBuf bool) (inBuf bool) {
	switch {
	case up >= hi || down <= lo:
		return false
	case hi-lo <= mergeLeaf:
		m.insert(lo, hi, up)
		if !toBuf {
			m.move(lo, hi, false)
		}
		return toBuf
	}
	mid, up2, down2 := m.divide(lo, hi, up, down)
	left := m.sort(lo, mid, up, down2, !toBuf)
	right := m.sort(mid, hi, up2, down, !toBuf)
	inBuf, joined := m.join(lo, mid, hi, left, right, toBuf)
	if !joined {
		m.merge(lo, mid, hi, toBuf)
	}
	return inBuf
}

// divide returns where to divide s[lo:hi], the end of the run that the right side
// begins with, and the beginning of the one that the left side ends with.
func (m *merger[E]) divide(lo, hi, up, down int) (mid, up2, down2 int) {
	mid = int(uint(lo+hi) >> 1)
	switch {
	case mid <= up:
		return up, up + 1, lo
	case mid >= down:
		return down, hi, down - 1
	case hi-lo <= 2*mergeLeaf: // no run in it is worth a look
		return mid, mid + 1, mid - 1
	}
	first, end := m.runAround(mid, up, down)
	if mid-first < end-mid {
		return first, end, first - 1
	}
	return end, end + 1, first
}

// runAround returns the longest run in s[lo:hi] that s[mid-1] and s[mid] are in,
// and reverses it if it is in strictly descending order.
func (m *merger[E]) runAround(mid, lo, hi int) (first, end int) {
	s, cmp := m.s, m.cmp
	falls := cmp(s[mid], s[mid-1]) < 0
	first, end = mid-1, mid+1
	for first > lo && cmp(s[first], s[first-1]) < 0 == falls {
		first--
	}
	for end < hi && cmp(s[end], s[end-1]) < 0 == falls {
		end++
	}
	if falls {
		slices.Reverse(s[first:end])
	}
	return first, end
}

// insert sorts s[lo:hi], of which s[lo:up] is sorted, into buf.
func (m *merger[E]) insert(lo, hi, up int) {
	s, buf, cmp := m.s[lo:hi], m.buf[lo:hi], m.cmp
	for i := copy(buf, s[:up-lo]); i < len(s); i++ {
		x, j := s[i], i
		for ; j > 0 && cmp(x, buf[j-1]) < 0; j-- {
			buf[j] = buf[j-1]
		}
		buf[j] = x
	}
}

// join brings the two sides of a range, of which left and right say whether they
// are in buf, to one place: if they are in order with each other that is all, and
// otherwise this is where they can be merged from. It reports whether the result is
// in buf then, and whether it is there already.
func (m *merger[E]) join(lo, mid, hi int, left, right, toBuf bool) (inBuf, joined bool) {
	if m.cmp(m.in(right)[mid], m.in(left)[mid-1]) < 0 {
		if left == toBuf {
			m.move(lo, mid, !toBuf)
		}
		if right == toBuf {
			m.move(mid, hi, !toBuf)
		}
		return toBuf, false
	}
	switch {
	case left == right:
	case mid-lo < hi-mid:
		m.move(lo, mid, right)
		return right, true
	default:
		m.move(mid, hi, left)
	}
	return left, true
}

func (m *merger[E]) in(buf bool) []E {
	if buf {
		return m.buf
	}
	return m.s
}

func (m *merger[E]) move(lo, hi int, toBuf bool) {
	copy(m.in(toBuf)[lo:hi], m.in(!toBuf)[lo:hi])
}

// merge merges two sides of a range that are both in the other array, or takes
// them over as they are if cmp does not return.
func (m *merger[E]) merge(lo, mid, hi int, toBuf bool) {
	merged := false
	defer func() {
		if !merged {
			m.move(lo, hi, toBuf)
		}
	}()
	merge(m.in(toBuf)[lo:hi], m.in(!toBuf), lo, mid, mid, hi, m.cmp)
	merged = true
}

// merge merges src[i:iEnd] and src[j:jEnd] into dst, blocks of it without a look
// at the ends. When a block came from one side alone, it searches how much more
// does, as timsort; blocks grow while this is not worth it.
func merge[E any](dst, src []E, i, iEnd, j, jEnd int, cmp func(a, b E) int) {
	k, block := 0, mergeBlock
	for i < iEnd && j < jEnd {
		i0, n, more := i, min(block, iEnd-i, jEnd-j), 0
		i, j = mergeSteps(dst[k:k+n], src, i, j, cmp)
		k += n
		switch {
		case i == iEnd || j == jEnd:
		case i == i0:
			more = ahead(src[j:jEnd], src[i], false, cmp)
			j += copy(dst[k:], src[j:j+more])
		case i == i0+n:
			more = ahead(src[i:iEnd], src[j], true, cmp)
			i += copy(dst[k:], src[i:i+more])
		}
		if k += more; more < n {
			block = max(block, 2*n)
		} else {
			block = mergeBlock
		}
	}
	k += copy(dst[k:], src[i:iEnd])
	copy(dst[k:], src[j:jEnd])
}

// mergeSteps fills dst from the beginnings of two sides that each have as many
// elements, and returns the new beginnings. Which side an element comes from is as
// good as random, so it is computed from the sign of the compare and not branched
// on: that takes half of the time, if cmp has no branch either. It is a function of
// its own because the fewer variables have to be kept over the call of cmp, the
// better.
//
//go:noinline
func mergeSteps[E any](dst, src []E, i, j int, cmp func(a, b E) int) (int, int) {
	for k := range dst {
		right := int(uint(cmp(src[j], src[i])) >> (bits.UintSize - 1))
		dst[k] = src[i+(j-i)&-right]
		i += 1 - right
		j += right
	}
	return i, j
}

// ahead returns how many elements of the sorted s go before x, those that are
// equal to it among them or not. It is the galloping search of Bentley and Yao, An
// Almost Optimal Algorithm for Unbounded Searching, 1976.
func ahead[E any](s []E, x E, equal bool, cmp func(a, b E) int) int {
	goes := func(e E) bool {
		if equal {
			return !(cmp(x, e) < 0)
		}
		return cmp(e, x) < 0
	}
	n := uint(len(s))
	lo, hi := uint(0), uint(1) // twice the largest int is an uint
	for hi <= n && goes(s[hi-1]) {
		lo, hi = hi, 2*hi
	}
	for hi = min(hi-1, n); lo < hi; {
		if mid := (lo + hi) / 2; goes(s[mid]) {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return int(lo)
}
