package par

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// The sub-benchmarks of the same name are to be compared. Each iteration sorts an order that
// it has not seen yet, because a CPU learns the branches of a short one by heart.
func BenchmarkSort(b *testing.B) {
	for _, n := range []int{10, 1000, 20_000, 1_000_000} {
		benchmarkSorts(b, "int", n, func(r *rand.Rand, _ int) int { return r.Int() }, slices.Sort[[]int], Sort[[]int])
		benchmarkSorts(b, "float64", n, func(r *rand.Rand, _ int) float64 { return r.Float64() }, slices.Sort[[]float64], Sort[[]float64])
		benchmarkSorts(b, "string", n, func(r *rand.Rand, _ int) string { return fmt.Sprintf("key-%016x", r.Uint64()) }, slices.Sort[[]string], Sort[[]string])
		for _, shape := range []string{"sixteen", "disturbed", "saw", "jitter", "appended"} {
			benchmarkSorts(b, shape, n, func(r *rand.Rand, i int) int { return shapes[shape](r, i, n) }, slices.Sort[[]int], Sort[[]int])
		}
	}
}

func BenchmarkSortFuncs(b *testing.B) {
	for _, n := range []int{10, 1000, 20_000, 1_000_000} {
		for _, shape := range []string{"random", "sixteen", "disturbed", "saw", "jitter", "appended", "falling"} {
			element := func(r *rand.Rand, i int) record { return record{key: shapes[shape](r, i, n)} }
			benchmarkSorts(b, "Func/"+shape, n, element, with(slices.SortFunc[[]record]), with(SortFunc[[]record]))
			benchmarkSorts(b, "Stable/"+shape, n, element, with(slices.SortStableFunc[[]record]), with(SortStableFunc[[]record]))
		}
	}
}

func with(sort func([]record, func(a, b record) int)) func([]record) {
	return func(s []record) { sort(s, func(x, y record) int { return cmp.Compare(x.key, y.key) }) }
}

func benchmarkSorts[E any](b *testing.B, kind string, n int, element func(r *rand.Rand, i int) E, std, ours func([]E)) {
	r := rand.New(rand.NewPCG(1, 2))
	all := make([]E, max(n, 1<<18))
	for i := range all {
		all[i] = element(r, i%n)
	}
	v := make([]E, n)
	for name, sort := range map[string]func([]E){"slices": std, "par": ours} {
		b.Run(fmt.Sprintf("%s/n=%d/%s", kind, n, name), func(b *testing.B) {
			for i := 0; b.Loop(); i++ {
				b.StopTimer()
				copy(v, all[i*n%(len(all)-n+1):])
				b.StartTimer()
				sort(v)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/element")
		})
	}
}
