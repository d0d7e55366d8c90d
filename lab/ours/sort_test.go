package ours

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stint-go/stint/lab/bench"
	"github.com/stint-go/stint/lab/models"
	"github.com/stint-go/stint/par"
)

// BenchmarkSort sorts long slices, the pair two at once. The time is that of the sorts alone; cpu-ns/op has copying and
// checking too.
func BenchmarkSort(b *testing.B) {
	text := func(r *rand.Rand) string { return fmt.Sprintf("key-%016x", r.Uint64()) }
	sorts(b, "of=ints/", (*rand.Rand).Int, slices.Sort[[]int], par.Sort[[]int])
	sorts(b, "of=strings/", text, slices.Sort[[]string], par.Sort[[]string])
}

func sorts[E comparable](b *testing.B, prefix string, makes func(r *rand.Rand) E, std, ours func([]E)) {
	r, input := rand.New(rand.NewPCG(7, 8)), make([]E, size(*elements))
	for i := range input {
		input[i] = makes(r)
	}
	want, work, other := slices.Clone(input), slices.Clone(input), slices.Clone(input)
	std(want)
	pair := func(s []E) { models.Together(2, func(i int) { std([][]E{s, other}[i]) }) }
	for _, m := range bench.Order([]named[func([]E)]{{"slices.Sort", std}, {"pair", pair}, {"par.Sort", ours}}) {
		b.Run(prefix+"model="+m.name, func(b *testing.B) {
			var took time.Duration
			ops := 0
			bench.Run(b, true, func() bool {
				copy(work, input)
				copy(other, input)
				began := time.Now()
				m.run(work)
				took += time.Since(began)
				ops++
				return slices.Equal(work, want)
			}, func(b *testing.B) { b.ReportMetric(float64(took)/float64(ops), "ns/op") })
		})
	}
}
