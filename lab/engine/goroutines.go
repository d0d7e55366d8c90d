package engine

import (
	"sync"

	"github.com/stint-go/stint/lab/result"
)

// Goroutines is a goroutine for every task, without a limit.
func Goroutines() Open {
	return Open{Name: "goroutines", Doc: "go f() and a sync.WaitGroup, no limit", Kind: result.Peer, Unbounded: true,
		New: func(_ int, t Task) Engine { return newGoroutines(t) }}
}

type goroutines struct {
	keeper
	wg sync.WaitGroup
	f  func()
}

func newGoroutines(t Task) *goroutines {
	g := new(goroutines)
	g.f = func() {
		defer g.wg.Done()
		t.Plain()
	}
	return g
}

func (g *goroutines) Go(n int) {
	for range n {
		g.wg.Add(1)
		go g.f()
	}
}

func (g *goroutines) Wait() { g.wg.Wait() }

// GoroutineEach is a goroutine for every item, without a limit.
func GoroutineEach() Loop {
	return Loop{Name: "goroutines", Doc: "a goroutine an item and a sync.WaitGroup, no limit", Kind: result.Peer, Unbounded: true,
		Run: func(n, _ int, b Body) {
			var wg sync.WaitGroup
			for i := range n {
				wg.Go(func() { b.Plain(i) })
			}
			wg.Wait()
		}}
}
