package stream_test

import (
	"context"
	"iter"
	"runtime"
	"testing"

	"github.com/stint-go/stint/internal/race"
	"github.com/stint-go/stint/stream"
)

// Twice as many records need no more allocations.
func TestNoAllocationsPerRecord(t *testing.T) {
	if race.Enabled {
		t.Skip("the race detector allocates")
	}
	const n = 10_000
	input := indexes(2 * n)
	inner := alone(1)
	one := func(int) iter.Seq[int] { return inner }
	adds := []stage{
		{"none", func(s ints) ints { return s }},
		{"Map", func(s ints) ints { return stream.Map(s, itself) }},
		{"MapErr", func(s ints) ints { return stream.MapErr(s, itselfErr) }},
		{"Filter", func(s ints) ints { return stream.Filter(s, func(v int) bool { return v%2 == 0 }) }},
		{"FlatMap", func(s ints) ints { return stream.FlatMap(s, one) }},
		{"Buffer(1)", func(s ints) ints { return stream.Buffer(s, 1) }},
		{"Buffer(1000)", func(s ints) ints { return stream.Buffer(s, 1000) }},
		{"Buffers", func(s ints) ints { return stream.Buffer(stream.Buffer(stream.Buffer(s, 1000), 500), 5000) }},
		{"Merge", func(s ints) ints { return stream.Merge(s, s) }},
		{"Take", func(s ints) ints { return stream.Take(s, 3*n) }},
	}
	for name, open := range map[string]func(n int) ints{
		"From":    func(n int) ints { return stream.From(input[:n]) },
		"FromSeq": func(n int) ints { return stream.FromSeq(count(n)) },
	} {
		for _, st := range adds {
			t.Run(name+"/"+st.name, func(t *testing.T) {
				// The least of some runs: others allocate meanwhile.
				least := func(n int) uint64 {
					least := ^uint64(0)
					for range 3 {
						var before, after runtime.MemStats
						s := st.add(open(n))
						runtime.ReadMemStats(&before)
						stream.Each(context.Background(), s, func(int) error { return nil })
						runtime.ReadMemStats(&after)
						least = min(least, after.Mallocs-before.Mallocs)
					}
					return least
				}
				once, twice := least(n), least(2*n)
				if more := int64(twice) - int64(once); more > n/512 {
					t.Errorf("%d allocations for %d records, %d for %d", once, n, twice, 2*n)
				}
			})
		}
	}
}
