// Package ours measures our own claims: what a task, a permit, a loop, a sort, a record between goroutines and a key cost
// with stint, with other libraries and by hand, and what the adaptive limit finds.
//
//	go test -run none -bench EmptyTask -cpu 1,2 ./lab/ours
//
// An op is a whole list, or what the benchmark says; ns/item is the time of one task, call, item or record of it.
package ours

import (
	"flag"
	"testing"

	"github.com/stint-go/stint/lab/bench"
)

var (
	tasks    = flag.Int("tasks", 200_000, "tasks in a list of empty tasks")
	sleepers = flag.Int("sleepers", 400_000, "tasks that sleep for 7 ms, at most 30,000 at once")
	elements = flag.Int("elements", 1_000_000, "elements of a long slice")
	records  = flag.Int("records", 100_000, "records of a stream")
)

func TestMain(m *testing.M) { bench.Main(m) }

// A named is a function with its name in results, and a model is one that is an op.
type (
	named[F any] struct {
		name string
		run  F
	}
	model[R any] = named[func() R]
)

// compare measures models of n items, with the same result, in the order of the round.
func compare[R comparable](b *testing.B, prefix string, n int, want R, models ...model[R]) {
	for _, m := range bench.Order(models) {
		b.Run(prefix+"model="+m.name, func(b *testing.B) {
			bench.Run(b, want, m.run)
			b.ReportMetric(each(b)/float64(n), "ns/item")
		})
	}
}

// each returns the time of an op in nanoseconds.
func each(b *testing.B) float64 { return float64(b.Elapsed().Nanoseconds()) / float64(b.N) }

// size returns n, or much less in a short test.
func size(n int) int { return bench.Short(n, max(1, n/100)) }

// mix is an item of about 2 ns, small enough to be inlined.
func mix(i int) uint64 {
	x := uint64(i) * 0x9e3779b97f4a7c15
	x ^= x >> 29
	return x * 0xbf58476d1ce4e5b9
}
