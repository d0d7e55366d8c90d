package stint_test

import (
	"context"
	"testing"

	"github.com/stint-go/stint"
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
