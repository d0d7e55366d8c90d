// Package line is a list in which those who wait keep their own place: joining
// and leaving allocate nothing, and leaving takes the same time from anywhere.
package line

// A Line is first come, first served. The zero Line is empty. It has no lock of
// its own.
type Line[T any] struct {
	first, last *Place[T]
	n           int
}

// A Place is where one T stands in a Line. Its zero value stands in none. It
// must not be copied while it stands in one.
type Place[T any] struct {
	of         T
	in         *Line[T]
	prev, next *Place[T]
}

// Len returns how many stand in the line.
func (l *Line[T]) Len() int { return l.n }

// First returns the first place, or nil.
func (l *Line[T]) First() *Place[T] { return l.first }

// Push puts p, which must stand in no line, at the end, for v.
func (l *Line[T]) Push(p *Place[T], v T) {
	*p = Place[T]{of: v, in: l, prev: l.last}
	if l.last == nil {
		l.first = p
	} else {
		l.last.next = p
	}
	l.last = p
	l.n++
}

// Of returns who stands at p.
func (p *Place[T]) Of() T { return p.of }

// Next returns the place behind p, or nil.
func (p *Place[T]) Next() *Place[T] { return p.next }

// Taken reports whether p stands in a line.
func (p *Place[T]) Taken() bool { return p.in != nil }

// Leave takes p out of its line, if it stands in one.
func (p *Place[T]) Leave() {
	l := p.in
	if l == nil {
		return
	}
	if p.prev == nil {
		l.first = p.next
	} else {
		p.prev.next = p.next
	}
	if p.next == nil {
		l.last = p.prev
	} else {
		p.next.prev = p.prev
	}
	l.n--
	*p = Place[T]{}
}
