package sort

import (
	"cmp"
	"runtime"
	"slices"
	"sync"

	"github.com/stint-go/stint/lab/result"
	"github.com/stint-go/stint/par"
)

// The models. A par model is compared with the slices model of the same name.
const (
	stdSort   = "slices.Sort"
	stdFunc   = "slices.SortFunc"
	stdStable = "slices.SortStableFunc"
	parSort   = "par.Sort"
	parFunc   = "par.SortFunc"
	parStable = "par.SortStableFunc"
	byHalves  = "halves"
)

func ordered[E cmp.Ordered]() []sorter[E] {
	return []sorter[E]{
		{result.Peer.Model(stdSort, "slices.Sort"), slices.Sort[[]E], false},
		{result.Ours.Model(parSort, "par.Sort"), par.Sort[[]E], false},
	}
}

func compared[E any](cmp func(a, b E) int) []sorter[E] {
	return []sorter[E]{
		{result.Peer.Model(stdFunc, "slices.SortFunc"), func(s []E) { slices.SortFunc(s, cmp) }, false},
		{result.Ours.Model(parFunc, "par.SortFunc"), func(s []E) { par.SortFunc(s, cmp) }, false},
	}
}

func stable[E any](cmp func(a, b E) int) []sorter[E] {
	return []sorter[E]{
		{result.Peer.Model(stdStable, "slices.SortStableFunc"), func(s []E) { slices.SortStableFunc(s, cmp) }, true},
		{result.Ours.Model(parStable, "par.SortStableFunc"), func(s []E) { par.SortStableFunc(s, cmp) }, true},
	}
}

// withHalves adds the sort that one would write by hand: GOMAXPROCS chunks are
// sorted by the first sorter, a goroutine each, and merged in pairs. It is
// stable if the first is.
func withHalves[E any](sorters []sorter[E], cmp func(a, b E) int) []sorter[E] {
	base := sorters[0]
	doc := "the sort of package slices on GOMAXPROCS chunks, a goroutine each, merged in pairs"
	return append(sorters, sorter[E]{result.Peer.Model(byHalves, doc), func(s []E) {
		halve(s, make([]E, len(s)), runtime.GOMAXPROCS(0), base.sort, cmp)
	}, base.stable})
}

// halve sorts s in the given number of chunks. It overwrites buf, which has the
// same length.
func halve[E any](s, buf []E, chunks int, sort func([]E), cmp func(a, b E) int) {
	if chunks <= 1 || len(s) < 2 {
		sort(s)
		return
	}
	mid := len(s) / 2
	var wg sync.WaitGroup
	wg.Go(func() { halve(s[:mid], buf[:mid], chunks/2, sort, cmp) })
	halve(s[mid:], buf[mid:], chunks-chunks/2, sort, cmp)
	wg.Wait()
	copy(buf[:mid], s[:mid])
	merge(s, buf[:mid], s[mid:], cmp)
}

// merge merges a and b into out, whose end is b.
func merge[E any](out, a, b []E, cmp func(a, b E) int) {
	for i := range out {
		switch {
		case len(a) == 0:
			return // the rest of b is in position
		case len(b) == 0 || cmp(a[0], b[0]) <= 0:
			out[i], a = a[0], a[1:]
		default:
			out[i], b = b[0], b[1:]
		}
	}
}
