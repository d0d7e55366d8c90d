package par

import (
	"math/bits"
	"slices"
)

const (
	mergeLeaf  = 20 // elements are sorted by insertion rather than by merges
	mergeBlock = 8  // elements of one side in a row make a merge search for more of them
)

// A merger sorts s by merges between s and buf. An element moves once a level, and the last
// merge is into s.
//
// Ranges are divided as in peeksort (J. Ian Munro and Sebastian Wild, Nearly-Optimal
// Mergesorts, ESA 2018): a range is divided at the end of the run that is nearest to its
// middle, so O(n) compares find the runs. Without runs it is the plain top-down merge sort.
//
// At every call of cmp each range of s holds its elements in some order, or, while a merge
// into it is under way, buf does. So a merge that is interrupted is undone by a copy.
type merger[E any] struct {
	s, buf []E
	cmp    func(a, b E) int
}

// sort sorts s[lo:hi], in which s[lo:up] and s[down:hi] are sorted, into buf if toBuf is set
// and otherwise into s. If there is nothing to merge it leaves the result where it is. It
// reports whether the result is in buf.
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

// divide returns where to divide s[lo:hi], the end of the run that the right side starts
// with, and the start of the run that the left side ends with.
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

// runAround returns the longest run in s[lo:hi] with s[mid-1] and s[mid], and reverses it if
// it is strictly descending.
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

// join brings the two sides of a range into one array. left and right say which are in buf.
// If the two are then in order, joined is true. Otherwise they are in the array from which
// merge reads. inBuf says whether the result is, or will be, in buf.
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

// merge merges two sides of a range from the other array, or copies them if cmp does not
// return.
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

// merge merges src[i:iEnd] and src[j:jEnd] into dst, in blocks, without a test for the ends
// inside a block. If a block came from one side alone, merge searches how many more
// elements do, as timsort does; blocks grow while such searches find little.
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

// mergeSteps fills dst from two sides that each have as many elements, and returns where
// they continue. The side is computed from the sign of the compare, without a branch, which
// takes half of the time if cmp has no branch either. It is a function of its own so that
// few variables are kept over the call of cmp.
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

// ahead returns how many elements of the sorted s go before x, with its equals if equal is
// set. It is the galloping search of Bentley and Yao, An Almost Optimal Algorithm for
// Unbounded Searching, 1976.
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
