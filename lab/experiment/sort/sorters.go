package sort

import (
	"cmp"
	"slices"
	"sync"

	"github.com/stint-go/stint/lab/result"
	"github.com/stint-go/stint/par"
)

// A sorter sorts a slice.
type sorter[E any] struct {
	result.Model
	sort func(s []E)
}

// pair returns a sort of package slices and ours of the same name.
func pair[E any](name string, std, ours func(s []E)) []sorter[E] {
	return []sorter[E]{
		{result.Peer.Model("slices."+name, "slices."+name), std},
		{result.Ours.Model("par."+name, "par."+name), ours},
	}
}

func ordered[E cmp.Ordered]() []sorter[E] { return pair("Sort", slices.Sort[[]E], par.Sort[[]E]) }

func compared[E any](cmp func(a, b E) int) []sorter[E] {
	return pair("SortFunc", func(s []E) { slices.SortFunc(s, cmp) }, func(s []E) { par.SortFunc(s, cmp) })
}

func stable[E any](cmp func(a, b E) int) []sorter[E] {
	return pair("SortStableFunc", func(s []E) { slices.SortStableFunc(s, cmp) }, func(s []E) { par.SortStableFunc(s, cmp) })
}

// strides is the article's split bubble sort: its n parts take less time, but
// they are not merged, they are sorted once more.
func strides(name, parts string, n int) sorter[int] {
	doc := parts + " strides bubble sorted, a goroutine each, then a bubble sort of the whole"
	return sorter[int]{result.Peer.Model(name, doc), func(s []int) {
		var wg sync.WaitGroup
		for p := range n {
			wg.Go(func() { sortBubble(s[p*len(s)/n : (p+1)*len(s)/n]) })
		}
		wg.Wait()
		sortBubble(s)
	}}
}

func sortBubble(s []int) {
	for end, exchanged := len(s), true; exchanged; end-- {
		exchanged = false
		for i := 1; i < end; i++ {
			if s[i] < s[i-1] {
				s[i], s[i-1] = s[i-1], s[i]
				exchanged = true
			}
		}
	}
}
