package models

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/sourcegraph/conc/stream"
	"github.com/stint-go/stint/lab/engine"
	"github.com/stint-go/stint/lab/result"
)

// Peers are the libraries, told to work on at most limit items at once.
func Peers(limit int) []Model {
	pool, iter := engine.Conc(), engine.ConcIter()
	pool.Name, iter.Name = "conc-pool", "conc-iter"
	return []Model{
		loop(engine.ErrgroupEach(), limit), open(pool, limit), loop(iter, limit), concStream(limit),
		open(engine.Ants(), limit), open(engine.Pond(), limit), loop(engine.Rill(), limit),
	}
}

// told adds a limit to what is said of a model, if it is given one.
func told(doc string, limit int) string {
	if limit == 0 {
		return doc
	}
	return fmt.Sprintf("%s; limit %d", doc, limit)
}

// loop is an engine for finite work that puts what the items give into a slice.
// It must be one that calls the body with an index.
func loop(e engine.Loop, limit int) Model {
	return Simple(e.Name, e.Kind, told(e.Doc, limit), func(l List) uint64 {
		out := make([]uint64, l.N)
		e.Run(l.N, limit, engine.Body{
			Plain: func(i int) { out[i] = l.Item(i) },
			Task:  func(_ context.Context, i int) error { out[i] = l.Item(i); return nil },
		})
		return total(out)
	})
}

// open is an engine that is given the items one by one. They are all the same
// function, which takes the next item: a closure an item would cost more.
func open(e engine.Open, limit int) Model {
	way := result.Model{Name: e.Name, Kind: e.Kind, Doc: told(e.Doc, limit)}
	return Model{Model: way, New: func(l List) (func() uint64, func()) {
		var out []uint64
		var next atomic.Int64
		task := engine.TaskOf(func() {
			i := int(next.Add(1)) - 1
			out[i] = l.Item(i)
		})
		var kept engine.Engine
		end := func() {}
		if e.Kept {
			kept = e.New(limit, task)
			end = kept.Close
		}
		return func() uint64 {
			out = make([]uint64, l.N)
			next.Store(0)
			x := kept
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

// concStream is the stream of sourcegraph/conc, whose callbacks run one after
// the other and in order.
func concStream(limit int) Model {
	doc := told("sourcegraph/conc v0.3.0, stream.New().WithMaxGoroutines, the callbacks add up", limit)
	return Simple("conc-stream", result.Peer, doc, func(l List) uint64 {
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

// total adds up.
func total(s []uint64) uint64 {
	sum := uint64(0)
	for _, v := range s {
		sum += v
	}
	return sum
}
