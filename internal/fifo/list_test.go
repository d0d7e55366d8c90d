package fifo

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// A list and a slice agree after any pushes and removals.
func TestList(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var l List[int]
	var want []int
	nodes := make([]Node[int], 20)
	for range 10_000 {
		i := r.IntN(len(nodes))
		if at := slices.Index(want, i); at >= 0 {
			nodes[i].Remove()
			want = slices.Delete(want, at, at+1)
		} else {
			nodes[i].Remove() // in no list: nothing
			l.Push(&nodes[i], i)
			want = append(want, i)
		}
		var got []int
		for p := l.First(); p != nil; p = p.Next() {
			got = append(got, p.Value())
		}
		if !slices.Equal(got, want) || l.Len() != len(want) || nodes[i].InList() != slices.Contains(want, i) {
			t.Fatalf("%v, len %d; want %v", got, l.Len(), want)
		}
	}
}
