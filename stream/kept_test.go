package stream_test

import (
	"context"
	"iter"
	"runtime"
	"testing"

	"github.com/stint-go/stint/stream"
)

// keepers are the sources whose function is given one that passes on a record. They keep it.
var keepers = map[string]func(seq iter.Seq[int], keep *func(int) bool) ints{
	"FromSeq": func(seq iter.Seq[int], keep *func(int) bool) ints {
		return stream.FromSeq(func(yield func(int) bool) { *keep = yield; seq(yield) })
	},
	"Generate": func(seq iter.Seq[int], keep *func(int) bool) ints {
		return stream.Generate(func(_ context.Context, emit func(int) bool) error { *keep = emit; seq(emit); return nil })
	},
	"FlatMap": func(seq iter.Seq[int], keep *func(int) bool) ints {
		return stream.FlatMap(stream.From([]int{0}), func(int) iter.Seq[int] {
			return func(yield func(int) bool) { *keep = yield; seq(yield) }
		})
	},
}

// However the function of a source ends, the function that it was given then passes on
// nothing: it returns false, or panics as that of a range loop.
func TestKeptYieldPassesOnNothing(t *testing.T) {
	for end, f := range map[string]func(){"returns": func() {}, "panics": func() { panic("boom") }, "exits": runtime.Goexit} {
		for name, source := range keepers {
			for _, b := range stages {
				for _, wanted := range []int{3, 9} { // of 4
					bubble(t, name+"/"+b.name+"/"+end, func(t *testing.T) {
						var kept func(int) bool
						var passed gauge
						s := source(func(yield func(int) bool) { count(4)(yield); f() }, &kept)
						s = b.add(stream.Map(s, func(v int) int { passed.Hold(0); return v }))
						leaving(func() { stream.Collect(context.Background(), stream.Take(s, wanted)) })
						before := passed.Total()
						recovered(func() { equal(t, "a late call", kept(5), false) })
						equal(t, "records of late calls", passed.Total()-before, 0)
					})
				}
			}
		}
	}
}

// Between the sequences of FlatMap their yield function passes on nothing.
func TestYieldBetweenSequences(t *testing.T) {
	var kept func(int) bool
	got, err := stream.Collect(context.Background(), stream.FlatMap(stream.From(indexes(3)), func(v int) iter.Seq[int] {
		if kept != nil {
			equal(t, "a late call", kept(-1), false)
		}
		return func(yield func(int) bool) { kept = yield; yield(v) }
	}))
	equal(t, "error", err, nil)
	same(t, "records", got, indexes(3))
}
