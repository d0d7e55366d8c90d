package par_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stint-go/stint/par"
)

// The sub-benchmarks of the same name are to be compared. Each iteration sorts an
// order that it has not seen yet, because a CPU learns the branches of a short
// one by heart.
func BenchmarkSort(b *testing.B) {
	for _, n := range []int{10, 100, 1000, 100_000, 1_000_000} {
		benchmarkSorts(b, "int", n, func(r *rand.Rand) int { return r.Int() }, slices.Sort[[]int], par.Sort[[]int])
		benchmarkSorts(b, "float64", n, func(r *rand.Rand) float64 { return r.Float64() }, slices.Sort[[]float64], par.Sort[[]float64])
		benchmarkSorts(b, "string", n, func(r *rand.Rand) string { return fmt.Sprintf("key-%016x", r.Uint64()) }, slices.Sort[[]string], par.Sort[[]string])
	}
}

func BenchmarkSortFunc(b *testing.B) {
	byKey := func(x, y sortRecord) int { return cmp.Compare(x.key, y.key) }
	for _, n := range []int{10, 1000, 1_000_000} {
		benchmarkSorts(b, "struct", n, func(r *rand.Rand) sortRecord { return sortRecord{key: r.Int()} },
			func(v []sortRecord) { slices.SortFunc(v, byKey) },
			func(v []sortRecord) { par.SortFunc(v, byKey) })
	}
}

func benchmarkSorts[E any](b *testing.B, kind string, n int, element func(*rand.Rand) E, std, ours func([]E)) {
	r := rand.New(rand.NewPCG(1, 2))
	all := make([]E, max(n, 1<<18))
	for i := range all {
		all[i] = element(r)
	}
	v := make([]E, n)
	for name, sort := range map[string]func([]E){"slices": std, "par": ours} {
		b.Run(fmt.Sprintf("%s/n=%d/%s", kind, n, name), func(b *testing.B) {
			for i := 0; b.Loop(); i++ {
				b.StopTimer()
				at := i * n % (len(all) - n + 1)
				copy(v, all[at:])
				b.StartTimer()
				sort(v)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/element")
		})
	}
}
