package engine

import (
	"github.com/alitto/pond/v2"
	"github.com/stint-go/stint/lab/result"
)

// Pond is the pool of alitto/pond with its default, unbounded queue.
func Pond() Open {
	return Open{Model: result.Peer.Model("pond", "alitto/pond/v2 v2.7.1, NewPool, Go, StopAndWait"),
		New: func(limit int, t Task) Engine {
			return &pondPool{pool: pond.NewPool(limit), f: t.Plain}
		}}
}

type pondPool struct {
	noClose
	pool pond.Pool
	f    func()
}

func (p *pondPool) Go(n int) {
	for range n {
		must(p.pool.Go(p.f))
	}
}

func (p *pondPool) Wait() { p.pool.StopAndWait() }
