package limit

import (
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/stint-go/stint/internal/auto"
)

// TestBoundsAtOnce sets limits and bounds on several goroutines, while permits come and go. The
// last call decides; a waiter is granted when the limit allows it.
func TestBoundsAtOnce(t *testing.T) {
	for round := range uint64(200) {
		l := New(8)
		if round%2 == 0 {
			l = NewAdaptive(auto.Config{Min: 1, Max: 20, Burst: 9, Procs: 2})
		}
		var wg sync.WaitGroup
		for i := range uint64(3) {
			rng := rand.New(rand.NewPCG(round, i))
			wg.Go(func() {
				for range 50 {
					switch n := rng.IntN(6); rng.IntN(5) {
					case 0:
						l.Fix(n)
					case 1:
						l.SetBounds(0, 0)
					default:
						l.SetBounds(1+n, 1+n+rng.IntN(8))
					}
					if l.TryAcquire() {
						l.Release(Permit{})
					}
				}
			})
		}
		wg.Wait()
		l.SetBounds(0, 0)
		var granted []int
		queued(t, l, 3, &granted)
		if l.Bound() != 0 || len(granted) != 0 {
			t.Fatalf("limit %d in a pause, granted %v", l.Bound(), granted)
		}
		l.SetBounds(2, 2)
		if limit, out, waiting := l.Counts(); limit != 2 || out != 2 || waiting != 1 || len(granted) != 2 {
			t.Fatalf("limit %d, %d out, %d wait, granted %v", limit, out, waiting, granted)
		}
		l.EndSearch()
	}
}
