package models

import (
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/stint-go/stint/lab/engine"
	"github.com/stint-go/stint/lab/result"
)

// The names of models that claims are about.
const (
	NamePoolMin    = "pool-min"
	NamePool       = "pool"
	NamePoolMax    = "pool-max"
	NameGoroutines = "goroutines"
)

// Pools returns worker pools on a channel of 100 items, with half as many
// workers as processors, as many, and ten times as many.
func Pools() []Model {
	var out []Model
	for _, p := range []struct {
		name, doc string
		workers   func() int
	}{{NamePoolMin, "NumCPU/2 workers, at least 1,", halfCPUs}, {NamePool, "NumCPU workers", allCPUs}, {NamePoolMax, "10 x NumCPU workers", TenPerCPU}} {
		m := Workers(p.name, p.doc, p.workers(), 100)
		m.Goroutines = p.workers
		out = append(out, m)
	}
	return out
}

// ByHand returns the models without a library, and the pipeline as a stream.
func ByHand() []Model {
	return slices.Concat(
		[]Model{Sequential(), pipeline(NamePipeline, 0), pipeline(NamePipelineBuffered, buffer), Stream(), fan(NameFan, 0), fan(NameFanBuffered, buffer), Parallelize()}, Pools(), []Model{Goroutines()})
}

// Workers returns a pool of n goroutines that read a channel of items, with a
// sum each. workers describes their number.
func Workers(name, workers string, n, size int) Model {
	doc := fmt.Sprintf("%s on a channel of %d items, a sum each, one lock at the end", workers, size)
	return Simple(name, result.Peer, doc, func(l List) uint64 {
		items := make(chan int, size)
		var t sharedSum
		for range n {
			t.wg.Go(func() {
				sum := uint64(0)
				for i := range items {
					sum += l.Item(i)
				}
				t.add(sum)
			})
		}
		for i := range l.N {
			items <- i
		}
		close(items)
		return t.wait()
	})
}

// Sweep returns Workers of 1, 2, 4 and so on to 1,024, on a channel of the
// given size, and for each number the other models.
func Sweep(size int, others ...func(n int) Model) []Model {
	var out []Model
	for n := 1; n <= 1024; n *= 2 {
		workers := Workers(fmt.Sprintf("workers-%d", n), "as many goroutines as the name says", n, size)
		workers.Sweep, workers.At = "workers", float64(n)
		out = append(out, workers)
		for _, other := range others {
			out = append(out, other(n))
		}
	}
	return out
}

// Counter is n goroutines that take the next item from an atomic counter.
func Counter(n int) Model { return loop(engine.Counter(1), n) }

// Goroutines is a goroutine per item, which adds to one atomic sum.
func Goroutines() Model {
	e := engine.GoroutineEach()
	m := Simple(NameGoroutines, e.Kind, e.Doc+", one atomic sum", func(l List) uint64 {
		var sum atomic.Uint64
		e.Run(l.N, 0, engine.Body{Plain: func(i int) { sum.Add(l.Item(i)) }})
		return sum.Load()
	})
	m.Unbounded = true
	return m
}
