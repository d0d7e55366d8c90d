package sort

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/stint-go/stint/lab/measure"
	"github.com/stint-go/stint/lab/result"
)

// A sorter sorts a slice.
type sorter[E any] struct {
	result.Model
	sort   func(s []E)
	stable bool
}

// A batch is a series of slices to sort. They are of one kind but differ, since
// a processor learns the branches of a sort that it repeats.
type batch[E any] struct {
	element[E]
	n     int      // elements per slice
	input []E      // the slices, one after the other
	work  []E      // where they are sorted
	sums  []uint64 // sums of the hashes of each slice
}

// newBatch returns slices of n elements, about size elements in all and at
// least one slice. They are always the same.
func newBatch[E any](e element[E], n, size int, makes generator[E]) *batch[E] {
	b := &batch[E]{element: e, n: n, sums: make([]uint64, max(1, size/n))}
	b.input = make([]E, 0, n*len(b.sums))
	r := rand.New(rand.NewPCG(7, 8))
	for i := range b.sums {
		s := makes(r, n)
		for _, e := range s {
			b.sums[i] += b.hash(e)
		}
		b.input = append(b.input, s...)
	}
	b.work = make([]E, len(b.input))
	return b
}

// measure sorts m.N slices in several passes, and checks those of the last
// pass, the whole batch. Only sorting is timed.
func (b *batch[E]) measure(m *measure.Meter, w sorter[E]) error {
	all := len(b.sums)
	pass := m.N - (m.N-1)/all*all // the first pass is the remainder
	took := time.Duration(0)
	m.Start()
	for left := m.N - pass; ; left -= all {
		copy(b.work[:pass*b.n], b.input)
		began := time.Now()
		for i := range pass {
			w.sort(b.slice(i))
		}
		took += time.Since(began)
		if left == 0 {
			break
		}
		pass = all
	}
	m.Stop()
	m.Report(measure.Time, float64(took.Nanoseconds())/float64(m.N))
	for i := range pass {
		if err := b.check(i, w.stable); err != nil {
			return err
		}
	}
	return nil
}

// slice returns the i-th slice of work.
func (b *batch[E]) slice(i int) []E { return b.work[i*b.n : (i+1)*b.n : (i+1)*b.n] }

// check returns an error unless slice i is sorted and has its elements.
func (b *batch[E]) check(i int, stable bool) error {
	s := b.slice(i)
	sum := uint64(0)
	for j, e := range s {
		sum += b.hash(e)
		if j == 0 {
			continue
		}
		switch c := b.cmp(s[j-1], e); {
		case c > 0:
			return fmt.Errorf("elements %d and %d of %d are not in order", j-1, j, b.n)
		case c == 0 && stable && b.before != nil && !b.before(s[j-1], e):
			return fmt.Errorf("elements %d and %d of %d are equal and have changed their order", j-1, j, b.n)
		}
	}
	if sum != b.sums[i] {
		return fmt.Errorf("the %d elements are not those of the input", b.n)
	}
	return nil
}
