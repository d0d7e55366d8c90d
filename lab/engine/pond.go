package engine

import (
	"github.com/alitto/pond/v2"
	"github.com/stint-go/stint/lab/result"
)

// Pond is the pool of alitto/pond, with the queue that it has unless told
// otherwise: one without an end.
func Pond() Open {
	return Open{Name: "pond", Doc: "alitto/pond/v2 v2.7.1, NewPool, Go, StopAndWait", Kind: result.Peer,
		New: func(limit int, t Task) Engine {
			return &pondPool{pool: pond.NewPool(limit), f: t.Plain}
		}}
}

type pondPool struct {
	keeper
	pool pond.Pool
	f    func()
}

func (p *pondPool) Go(n int) {
	for range n {
		must(p.pool.Go(p.f))
	}
}

func (p *pondPool) Wait() { p.pool.StopAndWait() }
