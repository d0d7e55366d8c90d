package ours

import (
	"context"
	"fmt"
	"runtime"
	"testing"

	"github.com/sourcegraph/conc/iter"
	"github.com/stint-go/stint"
	"github.com/stint-go/stint/lab/bench"
	"github.com/stint-go/stint/lab/models"
	"github.com/stint-go/stint/par"
	"golang.org/x/sync/errgroup"
)

// A body is the body of a loop in the forms that libraries take, so that each calls one function for an item, and none pays
// for another call. The plain loop calls one too: where it has the body in itself, it is faster.
type body struct {
	plain   func(i int)
	pointer func(i *int)
	task    func(_ context.Context, i int) error
}

// Loops call their body with the indexes in s. Those cut by hand have GOMAXPROCS pieces.
var loops = []named[func(s []int, f body)]{
	{"plain", plain},
	{"pieces", func(s []int, f body) { pieces(s, func(s []int) int { plain(s, f); return 0 }) }},
	{"par.Each", func(s []int, f body) { par.Each(s, f.pointer) }},
	{"stint.Each", func(s []int, f body) { bench.Check(stint.Each(context.Background(), s, f.task)) }},
	{"conc.iter", func(s []int, f body) { iter.ForEach(s, f.pointer) }},
	{"errgroup", func(s []int, f body) {
		var g errgroup.Group
		g.SetLimit(runtime.GOMAXPROCS(0))
		for _, i := range s {
			g.Go(func() error { f.plain(i); return nil })
		}
		bench.Check(g.Wait())
	}},
}

func plain(s []int, f body) {
	for _, i := range s {
		f.plain(i)
	}
}

// pieces returns the results of f for pieces of s, each on a goroutine.
func pieces[T, R any](s []T, f func([]T) R) []R {
	p := min(runtime.GOMAXPROCS(0), len(s))
	out := make([]R, p)
	models.Together(p, func(w int) { out[w] = f(models.EvenPiece(s, w, p)) })
	return out
}

// BenchmarkLoop is a loop that calls a function of 2 ns for each item, which adds its result to a number of out. more-ns is
// the time beyond that of the plain loop, which is measured first.
func BenchmarkLoop(b *testing.B) {
	for _, n := range []int{1, 10, 100, 1000, 10_000, 1_000_000} {
		s, out, least := make([]int, n), make([]uint64, n), 0.0
		for i := range s {
			s[i] = i
		}
		f := body{func(i int) { out[i] += mix(i) }, func(i *int) { out[*i] += mix(*i) },
			func(_ context.Context, i int) error { out[i] += mix(i); return nil }}
		for _, l := range append(loops[:1:1], bench.Order(loops[1:])...) {
			if n > 10_000 && l.name == "errgroup" { // some 300 ns an item
				continue
			}
			b.Run(fmt.Sprintf("items=%d/model=%s", n, l.name), func(b *testing.B) {
				clear(out)
				ops := uint64(0)
				bench.Scheduled(b, n, func() int { l.run(s, f); ops++; return n })
				if l.name == "plain" {
					least = each(b)
				}
				b.ReportMetric(each(b)-least, "more-ns")
				for i, v := range out {
					if want := ops * mix(i); v != want {
						b.Fatalf("item %d added %d, want %d", i, v, want)
					}
				}
			})
		}
	}
}

// BenchmarkSum adds up numbers, which are whole, so that any order gives the same sum. The function of par.Reduce is
// called for each of them, and so is that of pieces+calls.
func BenchmarkSum(b *testing.B) {
	s := make([]float64, size(1e7))
	for i := range s {
		s[i] = float64(i % 1000)
	}
	part := func(s []float64) (sum float64) {
		for _, v := range s {
			sum += v
		}
		return sum
	}
	calls := func(s []float64) (sum float64) {
		for _, v := range s {
			sum = plus(sum, v)
		}
		return sum
	}
	compare(b, "", len(s), part(s),
		model[float64]{"pieces", func() float64 { return part(pieces(s, part)) }},
		model[float64]{"pieces+calls", func() float64 { return calls(pieces(s, calls)) }},
		model[float64]{"par.Reduce", func() float64 { return par.Reduce(s, func() float64 { return 0 }, plus, plus) }},
		model[float64]{"par.RangeWith", func() (sum float64) {
			add := func(sum *float64, lo, hi int) { *sum += part(s[lo:hi]) }
			for _, v := range par.RangeWith(len(s), func() *float64 { return new(float64) }, add) {
				sum += *v
			}
			return sum
		}})
}

// plus is a variable, so that it is called.
var plus = func(a, v float64) float64 { return a + v }
