package engine

import (
	"sync"

	"github.com/stint-go/stint/lab/result"
)

// Goroutines is a goroutine per task, without a limit.
func Goroutines() Open {
	return Open{Model: result.Model{Name: "goroutines", Kind: result.Peer, Doc: "go f() and a sync.WaitGroup, no limit", Unbounded: true},
		New: func(_ int, t Task) Engine { return newGoroutines(t) }}
}

type goroutines struct {
	noClose
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

// GoroutineEach is a goroutine per item, without a limit.
func GoroutineEach() Loop {
	return Loop{Model: result.Model{Name: "goroutines", Kind: result.Peer, Doc: "a goroutine an item and a sync.WaitGroup, no limit", Unbounded: true},
		Run: func(n, _ int, b Body) {
			var wg sync.WaitGroup
			for i := range n {
				wg.Go(func() { b.Plain(i) })
			}
			wg.Wait()
		}}
}
