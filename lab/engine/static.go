package engine

import (
	"sync"

	"github.com/stint-go/stint/lab/result"
)

// Static cuts the indexes into limit equal chunks, with a goroutine each.
func Static() Loop {
	return Loop{Model: result.Peer.Model("static", "the indexes cut into limit chunks, a goroutine each"),
		Run: func(n, limit int, b Body) {
			chunks := min(limitOrProcs(limit), n)
			var wg sync.WaitGroup
			for w := range chunks {
				wg.Go(func() {
					for i := w * n / chunks; i < (w+1)*n/chunks; i++ {
						b.Plain(i)
					}
				})
			}
			wg.Wait()
		}}
}

// StaticRange is Static with one call of the body per chunk.
func StaticRange() Loop {
	return Loop{Model: result.Peer.Model("static-range", "the indexes cut into limit chunks, a goroutine and one call each"),
		Run: func(n, limit int, b Body) {
			chunks := min(limitOrProcs(limit), n)
			var wg sync.WaitGroup
			for w := range chunks {
				wg.Go(func() { b.Range(w*n/chunks, (w+1)*n/chunks) })
			}
			wg.Wait()
		}}
}
