package stream_test

import (
	"context"
	"iter"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/stream"
)

type ints = stream.Stream[int]

// A source is one way to make a stream of what a sequence yields.
type source struct {
	name string
	open func(t *testing.T, seq iter.Seq[int]) ints
}

// sources are all of them but From, which has its records before it begins.
var sources = []source{
	{"FromSeq", func(_ *testing.T, seq iter.Seq[int]) ints { return stream.FromSeq(seq) }},
	{"FromSeq2", func(_ *testing.T, seq iter.Seq[int]) ints {
		return stream.FromSeq2(func(yield func(int, error) bool) {
			for v := range seq {
				if !yield(v, nil) {
					return
				}
			}
		})
	}},
	{"Generate", func(_ *testing.T, seq iter.Seq[int]) ints {
		return stream.Generate(func(_ context.Context, emit func(int) bool) error {
			for v := range seq {
				if !emit(v) {
					break
				}
			}
			return nil
		})
	}},
	{"FlatMap", func(_ *testing.T, seq iter.Seq[int]) ints {
		return stream.FlatMap(stream.From([]int{0}), func(int) iter.Seq[int] { return seq })
	}},
	{"FromChan", func(t *testing.T, seq iter.Seq[int]) ints { return stream.FromChan(sent(t, seq)) }},
}

// sent sends what seq yields, as long as the test runs.
func sent(t *testing.T, seq iter.Seq[int]) <-chan int {
	c := make(chan int)
	go func() {
		defer close(c)
		for v := range seq {
			select {
			case c <- v:
			case <-t.Context().Done():
				return
			}
		}
	}()
	return c
}

// A stage is one way to pass records on as they are, in their order.
type stage struct {
	name string
	add  func(s ints) ints
}

// itself is the function of stages that change nothing.
func itself(v int) int                                { return v }
func itselfErr(_ context.Context, v int) (int, error) { return v, nil }
func anyway(int) bool                                 { return true }
func alone(v int) iter.Seq[int]                       { return slices.Values([]int{v}) }
func parMap(s ints, opts ...stint.Option) ints        { return stream.ParMap(s, itselfErr, opts...) }
func flat(s stream.Stream[[]int]) ints                { return stream.FlatMap(s, slices.Values[[]int]) }
func branch(s ints, n int) []ints {
	return stream.Partition(s, n, func(v int) uint64 { return uint64(v) })
}

// fused are the stages that run on the goroutine of what follows them.
var fused = []stage{
	{"Map", func(s ints) ints { return stream.Map(s, itself) }},
	{"MapErr", func(s ints) ints { return stream.MapErr(s, itselfErr) }},
	{"Filter", func(s ints) ints { return stream.Filter(s, anyway) }},
	{"FlatMap", func(s ints) ints { return stream.FlatMap(s, alone) }},
	{"Take", func(s ints) ints { return stream.Take(s, math.MaxInt) }},
	{"Chunk(1)", func(s ints) ints { return flat(stream.Chunk(s, 1, 0)) }},
}

// boundaries are the stages that run what is before them on another goroutine.
var boundaries = []stage{
	{"ParMap(1)", func(s ints) ints { return parMap(s, stint.Limit(1)) }},
	{"ParMap(4)", func(s ints) ints { return parMap(s, stint.Limit(4)) }},
	{"ParMap(2)+3", func(s ints) ints { return parMap(s, stint.Limit(2), stint.Queue(3)) }},
	{"ParMap", func(s ints) ints { return parMap(s) }},
	{"Unordered(1)", func(s ints) ints { return parMap(s, stint.Limit(1), stint.Unordered()) }},
	{"Buffer(1)", func(s ints) ints { return stream.Buffer(s, 1) }},
	{"Buffer(7)", func(s ints) ints { return stream.Buffer(s, 7) }},
	{"Buffer(1000)", func(s ints) ints { return stream.Buffer(s, 1000) }},
	{"Merge", func(s ints) ints { return stream.Merge(s) }},
	{"Partition", func(s ints) ints { return branch(s, 1)[0] }},
	{"Chunk(1,ms)", func(s ints) ints { return flat(stream.Chunk(s, 1, time.Millisecond)) }},
}

// stages are all of them.
var stages = slices.Concat([]stage{{"none", func(s ints) ints { return s }}}, fused, boundaries)

// A terminal is one way to run a stream and have its records.
type terminal struct {
	name string
	run  func(ctx context.Context, s ints) ([]int, error)
}

// terminals are all of them.
var terminals = []terminal{
	{"All", func(ctx context.Context, s ints) ([]int, error) { return all(ctx, s, nil) }},
	{"Collect", stream.Collect[int]},
	{"Each", func(ctx context.Context, s ints) (out []int, err error) {
		err = stream.Each(ctx, s, func(v int) error { out = append(out, v); return nil })
		return out, err
	}},
	{"Reduce", func(ctx context.Context, s ints) ([]int, error) {
		return stream.Reduce(ctx, s, nil, func(out []int, v int) []int { return append(out, v) })
	}},
}

// all ranges over s. It calls leave with the number of records so far after each,
// and breaks when that says so. The error must come once, last, with a zero value.
func all(ctx context.Context, s ints, leave func(n int) bool) (out []int, err error) {
	for v, e := range s.All(ctx) {
		switch {
		case err != nil:
			panic("a pair after the error")
		case e != nil && v != 0:
			panic("an error with a value")
		case e != nil:
			err = e
			continue
		}
		out = append(out, v)
		if leave != nil && leave(len(out)) {
			break
		}
	}
	return out, err
}

// everyTerminal runs a test with each terminal, in a bubble of its own.
func everyTerminal(t *testing.T, test func(t *testing.T, run func(ctx context.Context, s ints) ([]int, error))) {
	for _, x := range terminals {
		bubble(t, x.name, func(t *testing.T) { test(t, x.run) })
	}
}
