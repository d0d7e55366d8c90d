package engine

import (
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/stint-go/stint/lab/result"
)

// Counter is limit goroutines that take indexes from an atomic counter, chunk
// at a time.
func Counter(chunk int) Loop {
	return Loop{Model: result.Peer.Model(fmt.Sprintf("counter-%d", chunk), fmt.Sprintf("limit goroutines on one atomic counter, %d at a time", chunk)),
		Run: func(n, limit int, b Body) {
			var next atomic.Int64
			var wg sync.WaitGroup
			for range min(limitOrProcs(limit), n) {
				wg.Go(func() {
					for {
						hi := int(next.Add(int64(chunk)))
						lo := hi - chunk
						if lo >= n {
							return
						}
						for i := lo; i < min(hi, n); i++ {
							b.Plain(i)
						}
					}
				})
			}
			wg.Wait()
		}}
}
