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
type source[T any] struct {
	name string
	open func(t *testing.T, seq iter.Seq[T]) stream.Stream[T]
}

// sourcesOf returns all sources but From, which has its records from the start.
func sourcesOf[T any]() []source[T] {
	return []source[T]{
		{"FromSeq", func(_ *testing.T, seq iter.Seq[T]) stream.Stream[T] { return stream.FromSeq(seq) }},
		{"Generate", func(_ *testing.T, seq iter.Seq[T]) stream.Stream[T] {
			return stream.Generate(func(_ context.Context, emit func(T) bool) error { seq(emit); return nil })
		}},
		{"FlatMap", func(_ *testing.T, seq iter.Seq[T]) stream.Stream[T] {
			return stream.FlatMap(stream.From([]int{0}), func(int) iter.Seq[T] { return seq })
		}},
		{"FromChan", func(t *testing.T, seq iter.Seq[T]) stream.Stream[T] { return stream.FromChan(sent(t, seq)) }},
	}
}

var sources = sourcesOf[int]()

// sent returns a channel that receives the values of seq while the test runs.
func sent[T any](t *testing.T, seq iter.Seq[T]) <-chan T {
	c := make(chan T)
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

// A stage passes records on as they are, in order.
type stage struct {
	name string
	add  func(s ints) ints
}

// The functions of stages that change nothing.
func itself(v int) int                                { return v }
func itselfErr(_ context.Context, v int) (int, error) { return v, nil }
func anyway(int) bool                                 { return true }
func alone(v int) iter.Seq[int]                       { return slices.Values([]int{v}) }
func parMap(s ints, opts ...stint.Option) ints        { return stream.ParMap(s, itselfErr, opts...) }
func flat(s stream.Stream[[]int]) ints                { return stream.FlatMap(s, slices.Values[[]int]) }

// fused are the stages on the goroutine of the stage behind them.
var fused = []stage{
	{"Map", func(s ints) ints { return stream.Map(s, itself) }},
	{"MapErr", func(s ints) ints { return stream.MapErr(s, itselfErr) }},
	{"Filter", func(s ints) ints { return stream.Filter(s, anyway) }},
	{"FlatMap", func(s ints) ints { return stream.FlatMap(s, alone) }},
	{"Take", func(s ints) ints { return stream.Take(s, math.MaxInt) }},
	{"Chunk(1)", func(s ints) ints { return flat(stream.Chunk(s, 1, 0)) }},
}

// boundaries are the stages that run the stages before them on another goroutine.
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
	{"Chunk(1,ms)", func(s ints) ints { return flat(stream.Chunk(s, 1, time.Millisecond)) }},
}

// stages are all stages.
var stages = slices.Concat([]stage{{"none", func(s ints) ints { return s }}}, fused, boundaries)

// A terminal runs a stream and returns its records.
type terminal struct {
	name string
	run  func(ctx context.Context, s ints) ([]int, error)
}

// terminals are all terminals.
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

// all ranges over s. It calls leave with the number of records so far, and breaks if that returns
// true. The error must come once, last, with a zero value.
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

// everyTerminal runs a test with each terminal, in a bubble.
func everyTerminal(t *testing.T, test func(t *testing.T, run func(ctx context.Context, s ints) ([]int, error))) {
	for _, x := range terminals {
		bubble(t, x.name, func(t *testing.T) { test(t, x.run) })
	}
}

// gives fails the test unless s has the records of want, in order, and then the error.
func gives(t *testing.T, s ints, err error, want []int) {
	t.Helper()
	out, got := stream.Collect(context.Background(), s)
	equal(t, "error", got, err)
	same(t, "records", out, want)
}

// givesSorted is gives for records in any order.
func givesSorted(t *testing.T, s ints, err error, want []int) {
	t.Helper()
	out, got := stream.Collect(context.Background(), s)
	equal(t, "error", got, err)
	same(t, "records", sorted(out), want)
}
