package par

import (
	"math/bits"
	"slices"
	"sort"
)

const (
	mergeLeaf  = 20 // elements are left to package slices, which sorts them by insertion
	mergeBlock = 8  // elements of one side in a row make a merge search for more of them
)

// A merger sorts slices by merges in place, with a buffer for the right side of each.
//
// Slices are divided as in peeksort (J. Ian Munro and Sebastian Wild, Nearly-Optimal
// Mergesorts, ESA 2018): at the end of the run that is nearest to the middle, so O(n)
// compares find the runs. Without runs it is the plain top-down merge sort.
//
// At every call of cmp each slice holds its elements in some order, but for one merge on
// each goroutine, which a deferred function completes.
type merger[E any] struct {
	cmp  func(a, b E) int
	team *team
}

// sort sorts s, in which s[:up] and s[down:] are sorted. buf has the length of s[up:], or
// more.
func (m *merger[E]) sort(s, buf []E, up, down int) {
	switch {
	case up >= len(s) || down <= 0:
		return
	case len(s) <= mergeLeaf:
		slices.SortStableFunc(s, m.cmp)
		return
	}
	mid, up2, down2 := m.divide(s, up, down)
	left, right := s[:mid], s[mid:]
	leftBuf, rightBuf := buf[:len(buf)-len(right)], buf[len(buf)-len(right):]
	if len(s) <= grain {
		m.sort(left, leftBuf, up, down2)
		m.sort(right, rightBuf, up2-mid, down-mid)
	} else if !m.team.both(
		func() { m.sort(left, leftBuf, up, down2) },
		func() { m.sort(right, rightBuf, up2-mid, down-mid) },
	) {
		return
	}
	m.merge(s, mid, rightBuf)
}

// divide returns where to divide s, the end of the run that the right side starts with, and
// the start of the run that the left side ends with.
func (m *merger[E]) divide(s []E, up, down int) (mid, up2, down2 int) {
	mid = len(s) / 2
	switch {
	case mid <= up:
		return up, up + 1, 0
	case mid >= down:
		return down, len(s), down - 1
	case len(s) <= 2*mergeLeaf: // no run in it is worth a look
		return mid, mid + 1, mid - 1
	}
	first, end := m.runAround(s, mid, up, down)
	if mid-first < end-mid {
		return first, end, first - 1
	}
	return end, end + 1, first
}

// runAround returns the longest run in s[lo:hi] with s[mid-1] and s[mid], and reverses it if
// it is strictly descending.
func (m *merger[E]) runAround(s []E, mid, lo, hi int) (first, end int) {
	falls := m.cmp(s[mid], s[mid-1]) < 0
	first, end = mid-1, mid+1
	for first > lo && m.cmp(s[first], s[first-1]) < 0 == falls {
		first--
	}
	for end < hi && m.cmp(s[end], s[end-1]) < 0 == falls {
		end++
	}
	if falls {
		slices.Reverse(s[first:end])
	}
	return first, end
}

// merge merges s[:mid] and s[mid:], in pieces while CPUs are idle. buf has the length of
// s[mid:].
func (m *merger[E]) merge(s []E, mid int, buf []E) {
	if mid == 0 || mid == len(s) {
		return
	}
	s = s[:len(s)-m.after(s[mid:], s[mid-1], true)]
	if len(s) > grain && m.team.free() {
		m.mergeBoth(s, mid, buf)
	} else {
		m.mergeAlone(s, mid, buf)
	}
}

// mergeBoth divides a merge into two: s[p:mid] and s[mid:q] change places, and then no
// element of s[:k] goes after one of s[k:].
func (m *merger[E]) mergeBoth(s []E, mid int, buf []E) {
	p, q := m.cut(s, mid)
	k := p + q - mid
	moved := buf[:copy(buf, s[mid:q])]
	copy(s[k:], s[p:mid])
	copy(s[p:], moved)
	m.team.both(
		func() { m.merge(s[:k], p, moved) },
		func() { m.merge(s[k:], mid-p, buf[q-mid:]) },
	)
}

// cut returns where a merge is divided: s[:p] and s[mid:q] go before s[p:mid] and s[q:]. It
// is the middle of the longer side, and where that belongs in the other one. Of equal
// elements the left ones go first.
func (m *merger[E]) cut(s []E, mid int) (p, q int) {
	p, q = mid/2, mid+(len(s)-mid)/2
	if mid > len(s)-mid {
		return p, len(s) - m.after(s[mid:], s[p], true)
	}
	return mid - m.after(s[:mid], s[q], false), q
}

// mergeAlone merges s[:mid] and s[mid:] from the end, in blocks, without a test for the ends
// inside a block. If a block came from one side alone, it searches how many more elements
// do, as timsort does; blocks grow while such searches find little.
//
// At each call of cmp the elements are those of s[:i] and rest, and those after the gap
// s[i:i+len(rest)], into which a block is written. So nothing is lost if cmp does not return.
func (m *merger[E]) mergeAlone(s []E, mid int, buf []E) {
	i, rest := mid, buf[:copy(buf, s[mid:])]
	defer func() { copy(s[i:], rest) }()
	block := mergeBlock
	for i > 0 && len(rest) > 0 {
		n, more := min(block, i, len(rest)), 0
		left := mergeBlocks(s[i+len(rest)-n:i+len(rest)], s[i-n:i], rest[len(rest)-n:], m.cmp)
		i, rest = i-left, rest[:len(rest)-n+left]
		switch {
		case i == 0 || len(rest) == 0:
		case left == 0:
			more = m.after(rest, s[i-1], true)
			end := len(rest) - more
			copy(s[i+end:], rest[end:])
			rest = rest[:end]
		case left == n:
			more = m.after(s[:i], rest[len(rest)-1], false)
			copy(s[i-more+len(rest):], s[i-more:i])
			i -= more
		}
		if more < n {
			block = max(block, 2*n)
		} else {
			block = mergeBlock
		}
	}
}

// mergeBlocks fills dst from the ends of left and right, which are as long, and returns how
// many elements of left it took. The side is computed from the sign of the compare, without
// a branch, which takes half of the time if cmp has no branch either. It is a function of
// its own so that few variables are kept over the call of cmp.
//
//go:noinline
func mergeBlocks[E any](dst, left, right []E, cmp func(a, b E) int) int {
	i, j := len(left)-1, len(right)-1
	for k := len(dst) - 1; k >= 0; k-- {
		sides := [2]*E{&right[j], &left[i]}
		side := int(uint(cmp(right[j], left[i])) >> (bits.UintSize - 1))
		dst[k] = *sides[side]
		i -= side
		j -= 1 - side
	}
	return len(left) - 1 - i
}

// after returns how many elements at the end of the sorted s go after x, with its equals if
// equal is set. It is the galloping search of Bentley and Yao, An Almost Optimal Algorithm
// for Unbounded Searching, 1976.
func (m *merger[E]) after(s []E, x E, equal bool) int {
	goes := func(n int) bool { // the nth from the end
		if equal {
			return m.cmp(s[len(s)-n], x) >= 0
		}
		return m.cmp(x, s[len(s)-n]) < 0
	}
	lo, hi := 0, 1
	for hi <= len(s) && goes(hi) {
		lo, hi = hi, 2*hi
	}
	between := min(hi-1, len(s)) - lo
	return lo + sort.Search(between, func(i int) bool { return !goes(lo + 1 + i) })
}
