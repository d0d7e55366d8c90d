package par

import (
	"cmp"
	"fmt"
	"slices"
	"testing"
)

// One element takes len(s)*log2(len(s)) compares less what the pattern saves, so
// slices.SortStableFunc beside it is what to compare with.
func BenchmarkSortStableFunc(b *testing.B) {
	sorts := map[string]func([]stableRecord, func(a, b stableRecord) int){
		"par":    SortStableFunc[[]stableRecord],
		"slices": slices.SortStableFunc[[]stableRecord],
	}
	for _, pattern := range []string{"random", "few values", "disturbed", "sorted"} {
		for _, n := range []int{10, 100, 10_000, 1_000_000} {
			for _, name := range []string{"slices", "par"} {
				b.Run(fmt.Sprintf("%s/n=%d/%s", pattern, n, name), func(b *testing.B) {
					before := stableRecords(pattern, n)
					s := slices.Clone(before)
					b.ReportAllocs()
					for b.Loop() {
						copy(s, before)
						sorts[name](s, func(x, y stableRecord) int { return cmp.Compare(x.key, y.key) })
					}
					b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/element")
				})
			}
		}
	}
}
