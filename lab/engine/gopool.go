package engine

import (
	"sync"

	"github.com/bytedance/gopkg/util/gopool"
	"github.com/stint-go/stint/lab/result"
)

// Gopool is the pool of bytedance/gopkg. It cannot be waited for, so a
// sync.WaitGroup is. It counts its workers and adds one in two steps, so that
// several submitters at once can exceed the limit.
func Gopool() Open {
	return Open{Name: "gopool", Doc: "bytedance/gopkg v0.1.4, gopool.NewPool, and a sync.WaitGroup", Kind: result.Peer, OneSubmitter: true,
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
	keeper
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
