package sorts

import (
	"fmt"
	"slices"

	"github.com/stint-go/stint/lab/measure"
	"github.com/stint-go/stint/lab/report"
)

// Samples: one of a long slice takes long, and 6 are the fewest that give an
// interval.
const (
	samples     = 12
	longSamples = 6
	long        = 1_000_000
)

// A way is one to sort a slice.
type way[E any] struct {
	report.Model
	sort   func(s []E)
	stable bool
}

// A batch is the slices of a sample: copies of one.
type batch[E any] struct {
	element[E]
	input  []E
	copies []E
	sum    uint64 // of the hashes of one slice
}

func newBatch[E any](e element[E], input []E, size int) *batch[E] {
	b := &batch[E]{element: e, input: input}
	b.copies = make([]E, max(1, size/len(input))*len(input))
	for _, e := range input {
		b.sum += b.hash(e)
	}
	return b
}

func (b *batch[E]) measure(m *measure.Meter, w way[E]) error {
	b.fill()
	m.Start()
	for s := range slices.Chunk(b.copies, len(b.input)) {
		w.sort(s)
	}
	m.Stop()
	for s := range slices.Chunk(b.copies, len(b.input)) {
		if err := b.check(s, w.stable); err != nil {
			return err
		}
	}
	return nil
}

func (b *batch[E]) fill() {
	for s := range slices.Chunk(b.copies, len(b.input)) {
		copy(s, b.input)
	}
}

// check returns an error unless s is what a sort makes of the input.
func (b *batch[E]) check(s []E, stable bool) error {
	sum := uint64(0)
	for i, e := range s {
		sum += b.hash(e)
		if i == 0 {
			continue
		}
		switch c := b.cmp(s[i-1], e); {
		case c > 0:
			return fmt.Errorf("elements %d and %d of %d are not in order", i-1, i, len(s))
		case c == 0 && stable && b.before != nil && !b.before(s[i-1], e):
			return fmt.Errorf("elements %d and %d of %d are equal and have changed places", i-1, i, len(s))
		}
	}
	if sum != b.sum {
		return fmt.Errorf("the %d elements are not those that were to be sorted", len(s))
	}
	return nil
}
