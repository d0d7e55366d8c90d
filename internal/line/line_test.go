package line

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// A line and a slice agree after any joins and leaves.
func TestLine(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var l Line[int]
	var want []int
	places := make([]Place[int], 20)
	for range 10_000 {
		i := r.IntN(len(places))
		if at := slices.Index(want, i); at >= 0 {
			places[i].Leave()
			want = slices.Delete(want, at, at+1)
		} else {
			places[i].Leave() // stands in none: nothing
			l.Push(&places[i], i)
			want = append(want, i)
		}
		var got []int
		for p := l.First(); p != nil; p = p.Next() {
			got = append(got, p.Of())
		}
		if !slices.Equal(got, want) || l.Len() != len(want) || places[i].Taken() != slices.Contains(want, i) {
			t.Fatalf("%v, len %d; want %v", got, l.Len(), want)
		}
	}
}
