package engine

import (
	"sync"
	"time"

	"github.com/panjf2000/ants/v2"
	"github.com/stint-go/stint/lab/result"
)

// Ants is the pool of panjf2000/ants, with workers that stay for ten seconds.
// Closing it is not measured, since a program would keep it. It has no wait, so
// a sync.WaitGroup provides one.
func Ants() Open {
	return Open{Model: result.Peer.Model("ants", "panjf2000/ants/v2 v2.12.1, NewPool with an expiry of 10 s, and a sync.WaitGroup"), Kept: true,
		New: func(limit int, t Task) Engine {
			p, err := ants.NewPool(limit, ants.WithExpiryDuration(10*time.Second))
			must(err)
			a := &antsPool{pool: p}
			a.f = func() {
				defer a.wg.Done()
				t.Plain()
			}
			return a
		}}
}

type antsPool struct {
	wg   sync.WaitGroup
	pool *ants.Pool
	f    func()
}

func (a *antsPool) Go(n int) {
	for range n {
		a.wg.Add(1)
		must(a.pool.Submit(a.f))
	}
}

func (a *antsPool) Wait() { a.wg.Wait() }

// Close waits for the workers, to keep them out of the next measurement.
func (a *antsPool) Close() { must(a.pool.ReleaseTimeout(time.Minute)) }

// The default pool that ants creates on import runs a clock, which would tick
// during all other measurements.
func init() { ants.Release() }
