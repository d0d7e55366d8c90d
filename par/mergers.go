package par

// mergers is a merger on several goroutines. It undoes a merge after all goroutines that
// took part have ended.
type mergers[E any] struct {
	merger[E]
	team  *team
	grain int // how many elements are sorted or merged without a fork
}

// sort is merger.sort with the sides sorted concurrently while CPUs are idle. After the team
// has stopped it starts nothing and reports false: all elements are in s then.
func (m *mergers[E]) sort(lo, hi, up, down int, toBuf bool) (inBuf bool) {
	switch {
	case up >= hi || down <= lo || m.team.stopped.Load():
		return false
	case hi-lo <= m.grain:
		return m.merger.sort(lo, hi, up, down, toBuf)
	}
	mid, up2, down2 := m.divide(lo, hi, up, down)
	var left, right bool
	if !m.team.both(
		func() { left = m.sort(lo, mid, up, down2, !toBuf) },
		func() { right = m.sort(mid, hi, up2, down, !toBuf) },
	) {
		return false
	}
	inBuf, joined := m.join(lo, mid, hi, left, right, toBuf)
	if !joined {
		m.merge(lo, mid, hi, toBuf)
	}
	return inBuf
}

// merge is merger.merge, in pieces.
func (m *mergers[E]) merge(lo, mid, hi int, toBuf bool) {
	merged := false
	defer func() {
		if !merged {
			m.move(lo, hi, toBuf)
		}
	}()
	merged = m.pieces(m.in(toBuf)[lo:hi], m.in(!toBuf), lo, mid, mid, hi)
}

// pieces is the function merge with pieces merged concurrently while CPUs are idle. The
// middle of the longer side, and where it belongs in the other side, start the second piece.
// Of equal elements those of the left side come first, so elements on the right that equal a
// middle on the left go with it, and elements on the left that equal a middle on the right
// go before it. pieces reports whether all was merged.
func (m *mergers[E]) pieces(dst, src []E, i, iEnd, j, jEnd int) bool {
	switch {
	case m.team.stopped.Load():
		return false
	case len(dst) <= m.grain:
		merge(dst, src, i, iEnd, j, jEnd, m.cmp)
		return true
	}
	p, q := int(uint(i+iEnd)>>1), int(uint(j+jEnd)>>1)
	if iEnd-i > jEnd-j {
		q = j + ahead(src[j:jEnd], src[p], false, m.cmp)
	} else {
		p = i + ahead(src[i:iEnd], src[q], true, m.cmp)
	}
	k := p - i + q - j
	return m.team.both(
		func() { m.pieces(dst[:k], src, i, p, j, q) },
		func() { m.pieces(dst[k:], src, p, iEnd, q, jEnd) },
	)
}
