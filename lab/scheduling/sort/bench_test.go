// Package sort measures the bubble sort of the article on scheduling, whole and in pieces, and what its pieces lack: a merge.
// An op sorts one of 16 lists of 2,000 numbers. It copies the list first, which takes less than a thousandth of it.
package sort

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stint-go/stint/lab/bench"
	"github.com/stint-go/stint/lab/models"
	"github.com/stint-go/stint/par"
)

const size, lists = 2000, 16

func TestMain(m *testing.M) { bench.Main(m) }

// Work is what a bubble sort did.
type work struct{ comparisons, exchanges int }

// BenchmarkSort has the sorts of the article, steps of them alone, and others. Parts sorts the pieces and no more. Last is
// the bubble sort of all after that, and merge a merge instead; parts+last and parts+merge are both.
func BenchmarkSort(b *testing.B) {
	for _, m := range []struct {
		name       string
		from, into int // sorted pieces before and after
		sort       func(s []int) work
	}{
		{"bubble", size, 1, bubble},
		{"parts+last/pieces=2", size, 1, func(s []int) work { return parts(2, s).and(bubble(s)) }},
		{"parts+last/pieces=8", size, 1, func(s []int) work { return parts(8, s).and(bubble(s)) }},
		{"parts/pieces=2", size, 2, func(s []int) work { return parts(2, s) }},
		{"last/pieces=2", 2, 1, bubble},
		{"last/pieces=8", 8, 1, bubble},
		{"parts+merge/pieces=8", size, 1, func(s []int) work { return parts(8, s).and(merge(8, s)) }},
		{"merge/pieces=8", 8, 1, func(s []int) work { return merge(8, s) }},
		{"slices.Sort", size, 1, func(s []int) work { slices.Sort(s); return work{} }},
		{"par.Sort", size, 1, func(s []int) work { par.Sort(s); return work{} }},
	} {
		b.Run("model="+m.name, func(b *testing.B) {
			random, ops, all := rand.New(rand.NewPCG(7, 8)), 0, work{}
			var input, want [lists][]int
			for i := range input {
				input[i] = ordered(m.from, random.Perm(size))
				want[i] = ordered(m.into, input[i])
			}
			s := make([]int, size)
			bench.Run(b, true, func() bool {
				i := ops % lists
				copy(s, input[i])
				ops, all = ops+1, all.and(m.sort(s))
				return slices.Equal(s, want[i])
			})
			if all.comparisons > 0 {
				b.ReportMetric(float64(all.comparisons)/float64(ops), "comparisons/op")
				b.ReportMetric(float64(all.exchanges)/float64(ops), "exchanges/op")
			}
		})
	}
}

// bubble sorts s. It ends after a pass without an exchange. It is not inlined, so that all sorts run the same instructions.
//
//go:noinline
func bubble(s []int) (w work) {
	for end, before := len(s), -1; w.exchanges > before; end-- {
		before = w.exchanges
		for i := 1; i < end; i++ {
			if s[i] < s[i-1] {
				s[i], s[i-1] = s[i-1], s[i]
				w.exchanges++
			}
		}
		w.comparisons += max(0, end-1)
	}
	return w
}

// parts sorts n pieces of s, a goroutine each.
func parts(n int, s []int) (all work) {
	done := make(chan work)
	for i := range n {
		go func() { done <- bubble(models.EvenPiece(s, i, n)) }()
	}
	for range n {
		all = all.and(<-done)
	}
	return all
}

// merge sorts s, whose n pieces are sorted, by merging each with those before it.
func merge(n int, s []int) (w work) {
	out := make([]int, 0, len(s))
	for i := range n {
		a, b := slices.Clone(out), models.EvenPiece(s, i, n)
		for out = out[:0]; len(a) > 0 && len(b) > 0; w.comparisons++ {
			if a[0] <= b[0] {
				out, a = append(out, a[0]), a[1:]
			} else {
				out, b = append(out, b[0]), b[1:]
			}
		}
		out = append(append(out, a...), b...)
	}
	copy(s, out)
	return w
}

func (w work) and(v work) work { return work{w.comparisons + v.comparisons, w.exchanges + v.exchanges} }

// ordered returns a copy of s with n sorted pieces.
func ordered(n int, s []int) []int {
	s = slices.Clone(s)
	for i := range n {
		slices.Sort(models.EvenPiece(s, i, n))
	}
	return s
}

// The article's three pieces of 36 numbers are sorted, and remain to be merged. A merge takes 56 comparisons, and the
// bubble sort of all 539, of 620 for the numbers as they were.
func TestRuns(t *testing.T) {
	s := []int{
		25, 51, 15, 57, 87, 10, 10, 85, 90, 32, 98, 53,
		91, 82, 84, 97, 67, 37, 71, 94, 26, 2, 81, 79,
		66, 70, 93, 86, 19, 81, 52, 75, 85, 10, 87, 49,
	}
	whole := bubble(slices.Clone(s))
	parts(3, s)
	if want := ordered(3, s); !slices.Equal(s, want) || slices.IsSorted(s) {
		t.Errorf("the runs are %v, want %v", s, want)
	}
	merged := slices.Clone(s)
	if m, b := merge(3, merged), bubble(s); m.comparisons != 56 || b.comparisons != 539 || whole.comparisons != 620 || !slices.Equal(merged, s) {
		t.Errorf("the merge made %v, the bubble sort %v of %v", m, b, whole)
	}
}
