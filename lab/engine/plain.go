package engine

import "github.com/stint-go/stint/lab/result"

// Plain is a loop: no goroutine but the caller's.
func Plain() Loop {
	return Loop{Name: "plain", Doc: "for i := range n { f(i) }", Kind: result.Peer,
		Run: func(n, _ int, b Body) {
			for i := range n {
				b.Plain(i)
			}
		}}
}

// PlainRange is the loop itself, without a call an item.
func PlainRange() Loop {
	return Loop{Name: "plain-range", Doc: "for i := range n, the item written out in it", Kind: result.Peer,
		Run: func(n, _ int, b Body) { b.Span(0, n) }}
}

// PlainEach is a loop over a slice of indexes, which it must read as par.Each
// does: where items are tiny, and many, that is part of the time.
func PlainEach() Loop {
	return Loop{Name: "plain-each", Doc: "for i := range s { f(&s[i]) }, over a slice", Kind: result.Peer,
		Run: func(n, _ int, b Body) {
			s := indexes(n)
			for i := range s {
				b.Pointer(&s[i])
			}
		}}
}
