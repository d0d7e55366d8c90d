package engine

import (
	"sync"

	"github.com/bytedance/gopkg/util/gopool"
	"github.com/stint-go/stint/lab/result"
)

// Gopool is the pool of bytedance/gopkg. It has no wait, so a sync.WaitGroup
// provides one. It counts and adds workers in two steps, so concurrent
// submitters can exceed the limit.
func Gopool() Open {
	return Open{Model: result.Peer.Model("gopool", "bytedance/gopkg v0.1.4, gopool.NewPool, and a sync.WaitGroup"), OneSubmitter: true,
		New: func(limit int, t Task) Engine {
			g := &gopoolPool{pool: gopool.NewPool("lab", int32(limit), gopool.NewConfig())}
			g.f = func() {
				defer g.wg.Done()
				t.Plain()
			}
			return g
		}}
}

type gopoolPool struct {
	noClose
	wg   sync.WaitGroup
	pool gopool.Pool
	f    func()
}

func (g *gopoolPool) Go(n int) {
	for range n {
		g.wg.Add(1)
		g.pool.Go(g.f)
	}
}

func (g *gopoolPool) Wait() { g.wg.Wait() }
