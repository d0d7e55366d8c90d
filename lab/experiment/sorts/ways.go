package sorts

import (
	"cmp"
	"runtime"
	"slices"
	"sync"

	"github.com/stint-go/stint/lab/result"
	"github.com/stint-go/stint/par"
)

// The models. Where there are two, the other is compared with the first.
const (
	stdSort   = "slices.Sort"
	stdFunc   = "slices.SortFunc"
	stdStable = "slices.SortStableFunc"
	parSort   = "par.Sort"
	parFunc   = "par.SortFunc"
	parStable = "par.SortStableFunc"
	byHalves  = "halves"
)

func ordered[E cmp.Ordered]() []way[E] {
	return []way[E]{
		{result.Model{Name: stdSort, Kind: result.Peer, Doc: "slices.Sort"}, slices.Sort[[]E], false},
		{result.Model{Name: parSort, Kind: result.Ours, Doc: "par.Sort"}, par.Sort[[]E], false},
	}
}

func compared[E any](cmp func(a, b E) int) []way[E] {
	return []way[E]{
		{result.Model{Name: stdFunc, Kind: result.Peer, Doc: "slices.SortFunc"}, func(s []E) { slices.SortFunc(s, cmp) }, false},
		{result.Model{Name: parFunc, Kind: result.Ours, Doc: "par.SortFunc"}, func(s []E) { par.SortFunc(s, cmp) }, false},
	}
}

func stable[E any](cmp func(a, b E) int) []way[E] {
	return []way[E]{
		{result.Model{Name: stdStable, Kind: result.Peer, Doc: "slices.SortStableFunc"}, func(s []E) { slices.SortStableFunc(s, cmp) }, true},
		{result.Model{Name: parStable, Kind: result.Ours, Doc: "par.SortStableFunc"}, func(s []E) { par.SortStableFunc(s, cmp) }, true},
	}
}

// withHalves adds what one would write by hand: the slice is cut into
// GOMAXPROCS pieces, which are sorted as the first of the ways does, a goroutine
// each, and merged by two. It is stable if that is.
func withHalves[E any](ways []way[E], cmp func(a, b E) int) []way[E] {
	base := ways[0]
	doc := "the sort of package slices on GOMAXPROCS pieces, a goroutine each, merged by two"
	return append(ways, way[E]{result.Model{Name: byHalves, Kind: result.Peer, Doc: doc}, func(s []E) {
		halve(s, make([]E, len(s)), runtime.GOMAXPROCS(0), base.sort, cmp)
	}, base.stable})
}

// halve sorts s as so many pieces. What is in buf, which is as long, is lost.
func halve[E any](s, buf []E, pieces int, sort func([]E), cmp func(a, b E) int) {
	if pieces <= 1 || len(s) < 2 {
		sort(s)
		return
	}
	mid := len(s) / 2
	var wg sync.WaitGroup
	wg.Go(func() { halve(s[:mid], buf[:mid], pieces/2, sort, cmp) })
	halve(s[mid:], buf[mid:], pieces-pieces/2, sort, cmp)
	wg.Wait()
	copy(buf[:mid], s[:mid])
	merge(s, buf[:mid], s[mid:], cmp)
}

// merge merges a and b, which is the end of out, into out.
func merge[E any](out, a, b []E, cmp func(a, b E) int) {
	for i := range out {
		switch {
		case len(a) == 0:
			return // the rest of b is where it belongs
		case len(b) == 0 || cmp(a[0], b[0]) <= 0:
			out[i], a = a[0], a[1:]
		default:
			out[i], b = b[0], b[1:]
		}
	}
}
