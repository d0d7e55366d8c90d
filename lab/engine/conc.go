package engine

import (
	"github.com/sourcegraph/conc/iter"
	"github.com/sourcegraph/conc/pool"
	"github.com/stint-go/stint/lab/result"
)

// Conc is the pool of sourcegraph/conc.
func Conc() Open {
	return Open{Model: result.Peer.Model("conc", "sourcegraph/conc v0.3.0, pool.New().WithMaxGoroutines"),
		New: func(limit int, t Task) Engine {
			return &concPool{pool: pool.New().WithMaxGoroutines(limit), f: t.Plain}
		}}
}

type concPool struct {
	noClose
	pool *pool.Pool
	f    func()
}

func (c *concPool) Go(n int) {
	for range n {
		c.pool.Go(c.f)
	}
}

func (c *concPool) Wait() { c.pool.Wait() }

// ConcIter is ForEachIdx of sourcegraph/conc, which takes one item at a time
// from an atomic counter.
func ConcIter() Loop {
	return Loop{Model: result.Peer.Model("conc", "sourcegraph/conc v0.3.0, iter.ForEachIdx"),
		Run: func(n, limit int, b Body) {
			iter.Iterator[struct{}]{MaxGoroutines: limit}.ForEachIdx(make([]struct{}, n), func(i int, _ *struct{}) { b.Plain(i) })
		}}
}
