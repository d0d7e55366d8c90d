package engine

import (
	"sync"

	"github.com/stint-go/stint/lab/result"
)

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
