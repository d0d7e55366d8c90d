package models

import (
	"context"
	"fmt"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/lab/engine"
	"github.com/stint-go/stint/lab/result"
	"github.com/stint-go/stint/par"
	"github.com/stint-go/stint/stream"
)

// The names of models that claims are about.
const (
	NameMap    = "stint.Map"
	NameEach   = "stint.Each"
	NameReduce = "par.Reduce"
)

// Calls returns stint's one call, without any option.
func Calls() []Model { return []Model{Each(), Map()} }

// Each is stint.Each, without a limit.
func Each() Model {
	e := engine.Each()
	e.Doc = "Each without an option, into a slice"
	return loop(e, 0)
}

// EachLimit is stint.Each with a Limit.
func EachLimit(n int) Model {
	e := engine.Each()
	e.Name, e.Doc = fmt.Sprintf("%s-%d", NameEach, n), fmt.Sprintf("Each with Limit(%d), into a slice", n)
	m := loop(e, n)
	m.Sweep, m.At = "limit", float64(n)
	return m
}

// Map is stint.Map, without a limit, and a loop that adds up the results.
func Map() Model {
	return overIndexes(NameMap, "Map without an option, and a loop over the results", func(l List, indexes []int) uint64 {
		out, err := stint.Map(context.Background(), indexes, func(_ context.Context, i int) (uint64, error) { return l.Item(i), nil })
		if err != nil {
			panic(err)
		}
		return total(out)
	})
}

// Reduce is par.Reduce.
func Reduce() Model {
	add := func(a, b uint64) uint64 { return a + b }
	return overIndexes(NameReduce, "par.Reduce", func(l List, indexes []int) uint64 {
		return par.Reduce(indexes, func() uint64 { return 0 }, func(sum uint64, i int) uint64 { return sum + l.Item(i) }, add)
	})
}

// Stream is the pipeline of the articles, with boundaries in place of channels.
func Stream() Model {
	const room = 256
	return overIndexes("stream", "From, Buffer, Map, Buffer, Reduce; the buffers hold 256", func(l List, indexes []int) uint64 {
		worked := stream.Map(stream.Buffer(stream.From(indexes), room), l.Item)
		sum, err := stream.Reduce(context.Background(), stream.Buffer(worked, room), 0, func(sum, v uint64) uint64 { return sum + v })
		if err != nil {
			panic(err)
		}
		return sum
	})
}

// Pool is stint.Pool, without a limit of its own.
func Pool() Model {
	e := engine.Pool()
	e.Doc = "NewPool without an option, Go, Close"
	return open(e, 0)
}

// overIndexes returns a model that takes a slice, which a program would already
// have.
func overIndexes(name, doc string, run func(l List, indexes []int) uint64) Model {
	return Model{Model: result.Ours.Model(name, doc), New: func(l List) (func() uint64, func()) {
		indexes := make([]int, l.N)
		for i := range indexes {
			indexes[i] = i
		}
		return func() uint64 { return run(l, indexes) }, func() {}
	}}
}
