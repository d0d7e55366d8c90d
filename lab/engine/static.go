package engine

import (
	"sync"

	"github.com/stint-go/stint/lab/result"
)

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

// Static cuts the indexes into as many equal pieces as may run at once, a
// goroutine each.
func Static() Loop {
	return Loop{Name: "static", Doc: "the indexes cut into limit pieces, a goroutine each", Kind: result.Peer,
		Run: func(n, limit int, b Body) {
			pieces := min(processors(limit), n)
			var wg sync.WaitGroup
			for w := range pieces {
				wg.Go(func() {
					for i := w * n / pieces; i < (w+1)*n/pieces; i++ {
						b.Plain(i)
					}
				})
			}
			wg.Wait()
		}}
}

// StaticRange cuts the indexes as Static does, and calls the body once a piece.
func StaticRange() Loop {
	return Loop{Name: "static-range", Doc: "the indexes cut into limit pieces, a goroutine and one call each", Kind: result.Peer,
		Run: func(n, limit int, b Body) {
			pieces := min(processors(limit), n)
			var wg sync.WaitGroup
			for w := range pieces {
				wg.Go(func() { b.Span(w*n/pieces, (w+1)*n/pieces) })
			}
			wg.Wait()
		}}
}
