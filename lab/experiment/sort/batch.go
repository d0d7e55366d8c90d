package sort

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/stint-go/stint/lab/measure"
)

// A batch is a series of slices to sort. They are of one kind but differ, since
// a processor learns the branches of a sort that it repeats.
type batch[E comparable] struct {
	n                 int // elements per slice
	input, work, want []E // the slices, one after the other
}

// newBatch returns slices of n elements, about size elements in all and at
// least one slice. They are always the same. right sorts correctly.
func newBatch[E comparable](n, size int, makes generator[E], right sorter[E]) *batch[E] {
	b := &batch[E]{n: n}
	r := rand.New(rand.NewPCG(7, 8))
	for range max(1, size/n) {
		s := makes(r, n)
		b.input = append(b.input, s...)
		right.sort(s)
		b.want = append(b.want, s...)
	}
	b.work = make([]E, len(b.input))
	return b
}

// slices returns the number of slices.
func (b *batch[E]) slices() int { return len(b.input) / b.n }

// measure sorts m.N slices, all of the batch in turn, and checks them. Only
// sorting is timed.
func (b *batch[E]) measure(m *measure.Meter, w sorter[E]) error {
	took, wrong := time.Duration(0), false
	m.Start()
	for left := m.N; left > 0; left -= b.slices() {
		pass := min(left, b.slices()) * b.n
		copy(b.work[:pass], b.input)
		began := time.Now()
		for i := 0; i < pass; i += b.n {
			w.sort(b.work[i : i+b.n : i+b.n])
		}
		took += time.Since(began)
		wrong = wrong || !slices.Equal(b.work[:pass], b.want[:pass])
	}
	m.Stop()
	m.Report(measure.Time, float64(took.Nanoseconds())/float64(m.N))
	if wrong {
		return fmt.Errorf("slices of %d elements are not sorted", b.n)
	}
	return nil
}

// A record is a key with more data.
type record struct {
	key   int
	index int // in the input, so that equal keys show their order
	more  [2]uint64
}

func byKey(a, b record) int { return cmp.Compare(a.key, b.key) }

// A generator returns a slice of n elements.
type generator[E any] func(r *rand.Rand, n int) []E

// made returns elements made from their index.
func made[E any](element func(r *rand.Rand, i, n int) E) generator[E] {
	return func(r *rand.Rand, n int) []E {
		out := make([]E, n)
		for i := range out {
			out[i] = element(r, i, n)
		}
		return out
	}
}

// keyed returns records with generated keys.
func keyed(keys generator[int]) generator[record] {
	return func(r *rand.Rand, n int) []record {
		of := keys(r, n)
		return made(func(_ *rand.Rand, i, _ int) record { return record{of[i], i, [2]uint64{uint64(i), uint64(of[i])}} })(r, n)
	}
}

// The orders. Those after random occur in practice, and can be sorted faster if
// the sort detects them.
var (
	random   = made(func(r *rand.Rand, _, n int) int { return r.IntN(n) }) // some are equal
	sorted   = made(func(_ *rand.Rand, i, _ int) int { return i })
	reversed = made(func(_ *rand.Rand, i, n int) int { return n - i })
	sixteen  = made(func(r *rand.Rand, _, _ int) int { return r.IntN(16) })

	// swapped has up to one element in a hundred exchanged with another.
	swapped = func(r *rand.Rand, n int) []int {
		s := sorted(r, n)
		for range (n + 99) / 100 {
			i, j := r.IntN(n), r.IntN(n)
			s[i], s[j] = s[j], s[i]
		}
		return s
	}

	permuted = func(r *rand.Rand, n int) []int { return r.Perm(n) }

	// digits are strings whose first bytes are always the same.
	digits = made(func(r *rand.Rand, _, _ int) string { return fmt.Sprintf("key-%016x", r.Uint64()) })
)
