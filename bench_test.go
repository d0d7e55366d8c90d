package stint_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/internal/goroutine"
)

// The benchmarks are of one empty task each: what the library itself costs.

func BenchmarkPoolGo(b *testing.B) {
	p := stint.NewPool(stint.Limit(2))
	b.ReportAllocs()
	for b.Loop() {
		p.Go(func(context.Context) {})
	}
	p.Close()
}

func BenchmarkGroupGo(b *testing.B) {
	for name, opts := range map[string][]stint.Option{"plain": nil, "named": {stint.Name("counted")}} {
		b.Run(name, func(b *testing.B) {
			g := stint.NewGroup(context.Background(), append(opts, stint.Limit(2))...)
			b.ReportAllocs()
			for b.Loop() {
				g.Go(func(context.Context) error { return nil })
			}
			g.Wait()
		})
	}
}

func BenchmarkGroup(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		g := stint.NewGroup(context.Background())
		g.Go(func(context.Context) error { return nil })
		g.Wait()
	}
}

func BenchmarkRange(b *testing.B) {
	b.ReportAllocs()
	stint.Range(context.Background(), b.N, func(context.Context, int) error { return nil })
}

func BenchmarkMapSeq(b *testing.B) {
	b.ReportAllocs()
	items := slices.Values(make([]int, b.N))
	for range stint.MapSeq(context.Background(), items, func(context.Context, int) (int, error) { return 0, nil }) {
	}
}

// The benchmarks below run a loop and what one would write by hand for it in
// turn, and report both, and the median of the ratios.

// beside measures hand and ours in turn.
func beside(b *testing.B, hand, ours func()) {
	hand()
	goroutine.Ours()
	var ratios []float64
	var both [2]time.Duration
	for b.Loop() {
		var d [2]time.Duration
		for i, f := range []func(){hand, ours} {
			start := time.Now()
			f()
			d[i] = time.Since(start)
			both[i] += d[i]
		}
		ratios = append(ratios, float64(d[1])/float64(d[0]))
	}
	slices.Sort(ratios)
	b.ReportMetric(ratios[len(ratios)/2], "ratio")
	b.ReportMetric(float64(both[0])/float64(len(ratios)), "hand-ns")
	b.ReportMetric(float64(both[1])/float64(len(ratios)), "ours-ns")
	b.ReportMetric(0, "ns/op")
}

// split is a loop written by hand: as many goroutines as processors, each with
// its part.
func split(ctx context.Context, n int, f func(context.Context, int) error) error {
	workers := runtime.GOMAXPROCS(0)
	errs := make([]error, workers)
	var wg sync.WaitGroup
	part := func(w int) {
		for i := w * n / workers; i < (w+1)*n/workers; i++ {
			if err := f(ctx, i); err != nil {
				errs[w] = err
				return
			}
		}
	}
	for w := range workers - 1 {
		wg.Go(func() { part(w + 1) })
	}
	part(0)
	wg.Wait()
	return slices.MaxFunc(errs, func(a, b error) int { return 0 })
}

// tiny are items of a few nanoseconds, and of some more.
func tiny() map[string]func(context.Context, int) error {
	return map[string]func(context.Context, int) error{
		"empty": func(context.Context, int) error { return nil },
		"pow": func(_ context.Context, i int) error {
			if math.Pow(1.0000001, float64(i)) < 0 {
				return context.Canceled
			}
			return nil
		},
	}
}

func BenchmarkTiny(b *testing.B) {
	const n = 1_000_000
	ctx := context.Background()
	items := make([]int, n)
	for i := range items {
		items[i] = i
	}
	for name, f := range tiny() {
		hand := func() { split(ctx, n, f) }
		b.Run("Range/"+name, func(b *testing.B) { beside(b, hand, func() { stint.Range(ctx, n, f) }) })
		b.Run("Range/limit/"+name, func(b *testing.B) {
			beside(b, hand, func() { stint.Range(ctx, n, f, stint.Limit(runtime.GOMAXPROCS(0))) })
		})
		b.Run("Range/limit100/"+name, func(b *testing.B) {
			beside(b, hand, func() { stint.Range(ctx, n, f, stint.Limit(100)) })
		})
		b.Run("Each/"+name, func(b *testing.B) { beside(b, hand, func() { stint.Each(ctx, items, f) }) })
	}
}

func BenchmarkFew(b *testing.B) {
	ctx := context.Background()
	f := tiny()["empty"]
	b.ReportAllocs()
	for _, n := range []int{1, 2, 10, 100, 1000, 10_000} {
		b.Run(time.Duration(n).String(), func(b *testing.B) {
			const times = 1000
			plain := func() {
				for range times {
					for i := range n {
						if f(ctx, i) != nil {
							return
						}
					}
				}
			}
			beside(b, plain, func() {
				for range times {
					stint.Range(ctx, n, f)
				}
			})
		})
	}
}

func BenchmarkSleepers(b *testing.B) {
	ctx := context.Background()
	f := func(context.Context, int) error { time.Sleep(time.Millisecond); return nil }
	for _, n := range []int{100, 1000, 10_000} {
		b.Run(time.Duration(n).String(), func(b *testing.B) {
			beside(b, func() {
				var wg sync.WaitGroup
				for i := range n {
					wg.Go(func() { f(ctx, i) })
				}
				wg.Wait()
			}, func() { stint.Range(ctx, n, f, stint.Limit(n)) })
		})
	}
	b.Run("million", func(b *testing.B) {
		const n, workers = 1_000_000, 50_000
		f := func(context.Context, int) error { time.Sleep(10 * time.Millisecond); return nil }
		beside(b, func() {
			var next atomic.Int64
			var wg sync.WaitGroup
			for range workers {
				wg.Go(func() {
					for i := next.Add(1) - 1; i < n; i = next.Add(1) - 1 {
						f(ctx, int(i))
					}
				})
			}
			wg.Wait()
		}, func() { stint.Range(ctx, n, f, stint.Limit(workers)) })
	})
}

// BenchmarkGoContext is what the values of the submitter's context cost a task, beside Go.
func BenchmarkGoContext(b *testing.B) {
	type key struct{}
	bg := context.Background()
	valued, other := context.WithValue(bg, key{}, 1), context.WithValue(bg, key{}, 2)
	p, g := stint.NewPool(stint.Limit(2)), stint.NewGroup(valued, stint.Limit(2))
	pooled, grouped := func(context.Context) {}, func(context.Context) error { return nil }
	for _, c := range []struct {
		name string
		run  func()
	}{
		{"Pool/Go", func() { p.Go(pooled) }},
		{"Pool/none", func() { p.GoContext(bg, pooled) }},
		{"Pool/values", func() { p.GoContext(valued, pooled) }},
		{"Group/Go", func() { g.Go(grouped) }},
		{"Group/own", func() { g.GoContext(valued, grouped) }},
		{"Group/values", func() { g.GoContext(other, grouped) }},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				c.run()
			}
		})
	}
	g.Wait()
	p.Close()
}

// BenchmarkKeys compares MapKey and EachKey with MapSeq, which keeps no order within keys: a
// million items of a microsecond on 10,000 keys, and empty ones. The ratios are those of the
// times.
func BenchmarkKeys(b *testing.B) {
	for _, c := range []struct {
		name string
		n    int
		work func()
	}{{"1µs", 200_000, func() { spin(time.Microsecond) }}, {"empty", 200_000, func() {}}} {
		keys := make([]int, c.n)
		r := rand.New(rand.NewPCG(1, 2))
		for i := range keys {
			keys[i] = r.IntN(10_000)
		}
		f := func(context.Context, int) (struct{}, error) { c.work(); return struct{}{}, nil }
		each := func(context.Context, int) error { c.work(); return nil }
		itself := func(k int) int { return k }
		mapSeq := func() {
			for range stint.MapSeq(context.Background(), slices.Values(keys), f) {
			}
		}
		b.Run("MapKey/"+c.name, func(b *testing.B) {
			beside(b, mapSeq, func() {
				for range stint.MapKey(context.Background(), slices.Values(keys), itself, f) {
				}
			})
		})
		b.Run("EachKey/"+c.name, func(b *testing.B) {
			beside(b, mapSeq, func() { stint.EachKey(context.Background(), slices.Values(keys), itself, each) })
		})
	}
}

// BenchmarkZipfKeys reports how near EachKey comes to the ideal on keys of which few are
// frequent: all workers busy, or the most frequent key's items one after the other. The items
// sleep a millisecond.
func BenchmarkZipfKeys(b *testing.B) {
	const n, limit, item = 20_000, 64, time.Millisecond
	for _, s := range []float64{1.01, 1.5} {
		b.Run(fmt.Sprint(s), func(b *testing.B) {
			zipf := rand.NewZipf(rand.New(rand.NewPCG(1, 2)), s, 1, 9_999)
			keys, longest := make([]uint64, n), map[uint64]int{}
			most := 0
			for i := range keys {
				keys[i] = zipf.Uint64()
				longest[keys[i]]++
				most = max(most, longest[keys[i]])
			}
			start := time.Now()
			stint.Range(context.Background(), 100, func(context.Context, int) error { time.Sleep(item); return nil }, stint.Limit(1))
			took := time.Since(start) / 100 // a sleep takes longer than it says
			for b.Loop() {
				start := time.Now()
				stint.EachKey(context.Background(), slices.Values(keys), func(k uint64) uint64 { return k },
					func(context.Context, uint64) error { time.Sleep(item); return nil }, stint.Limit(limit), stint.Queue(10_000))
				ideal := took * time.Duration(max(most, n/limit))
				b.ReportMetric(ideal.Seconds()/time.Since(start).Seconds(), "of-ideal")
			}
		})
	}
}

// spin computes for about d.
func spin(d time.Duration) {
	for start := time.Now(); time.Since(start) < d; {
	}
}
