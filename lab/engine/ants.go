package engine

import (
	"sync"
	"time"

	"github.com/panjf2000/ants/v2"
	"github.com/stint-go/stint/lab/result"
)

// Ants is the pool of panjf2000/ants. Its end is not measured: a program would
// keep it, and it is told to keep its workers for ten seconds. It cannot be
// waited for, so a sync.WaitGroup is.
func Ants() Open {
	return Open{Name: "ants", Doc: "panjf2000/ants/v2 v2.12.1, NewPool with an expiry of 10 s, and a sync.WaitGroup", Kind: result.Peer, Kept: true,
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

// Close waits for the workers, so that they are not in the next measurement.
func (a *antsPool) Close() { must(a.pool.ReleaseTimeout(time.Minute)) }

// The pool that ants makes when it is imported keeps a clock, which would tick
// through the measurements of all others.
func init() { ants.Release() }
