package models

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/sourcegraph/conc/stream"
	"github.com/stint-go/stint/lab/engine"
	"github.com/stint-go/stint/lab/result"
)

// Peers returns the libraries with a limit.
func Peers(limit int) []Model {
	pool, iter := engine.Conc(), engine.ConcIter()
	pool.Name, iter.Name = "conc-pool", "conc-iter"
	out := []Model{
		open(engine.Errgroup(), limit), open(pool, limit), loop(iter, limit), concStream(limit),
		open(engine.Ants(), limit), open(engine.Pond(), limit), loop(engine.Rill(), limit),
	}
	for i := range out {
		out[i].Doc = fmt.Sprintf("%s; limit %d", out[i].Doc, limit)
	}
	return out
}

// Counter is n goroutines that take the next item from an atomic counter.
func Counter(n int) Model { return loop(engine.Counter(1), n) }

// loop adapts an engine that calls the body with an index. Items store their
// results in a slice.
func loop(e engine.Loop, limit int) Model {
	return Simple(e.Name, e.Kind, e.Doc, func(l List) uint64 {
		out := make([]uint64, l.N)
		e.Run(l.N, limit, engine.Body{
			Plain: func(i int) { out[i] = l.Item(i) },
			Task:  func(_ context.Context, i int) error { out[i] = l.Item(i); return nil },
		})
		return total(out)
	})
}

// open adapts an engine that receives the items one by one. All tasks are the
// same function, which takes the next item: a closure per item would cost more,
// for all libraries alike.
func open(e engine.Open, limit int) Model {
	return Model{Model: e.Model, New: func(l List) (func() uint64, func()) {
		var out []uint64
		var next atomic.Int64
		task := engine.TaskOf(func() {
			i := int(next.Add(1)) - 1
			out[i] = l.Item(i)
		})
		var reused engine.Engine
		end := func() {}
		if e.Kept {
			reused = e.New(limit, task)
			end = reused.Close
		}
		return func() uint64 {
			out = make([]uint64, l.N)
			next.Store(0)
			x := reused
			if !e.Kept {
				x = e.New(limit, task)
				defer x.Close()
			}
			x.Go(l.N)
			x.Wait()
			return total(out)
		}, end
	}}
}

// concStream is the stream of sourcegraph/conc, whose callbacks run
// sequentially and in order.
func concStream(limit int) Model {
	return Simple("conc-stream", result.Peer, "sourcegraph/conc v0.3.0, stream.New().WithMaxGoroutines, the callbacks add up", func(l List) uint64 {
		sum := uint64(0)
		s := stream.New().WithMaxGoroutines(limit)
		for i := range l.N {
			s.Go(func() stream.Callback {
				v := l.Item(i)
				return func() { sum += v }
			})
		}
		s.Wait()
		return sum
	})
}

// total returns the sum of s.
func total(s []uint64) (sum uint64) {
	for _, v := range s {
		sum += v
	}
	return sum
}
