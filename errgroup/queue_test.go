package errgroup

import (
	"math/rand/v2"
	"testing"
)

// The ring behaves like a slice when it grows, wraps around and shrinks.
func TestQueueIsFirstInFirstOut(t *testing.T) {
	q := newQueue()
	var oracle []int
	var got int
	random := rand.New(rand.NewPCG(1, 2))
	next := 0
	for range 300 {
		for range random.IntN(1 << random.IntN(13)) {
			n := next
			q.push(func() error { got = n; return nil })
			oracle = append(oracle, n)
			next++
		}
		for range random.IntN(len(oracle) + 1) {
			q.pop()()
			if got != oracle[0] {
				t.Fatalf("popped %d, want %d", got, oracle[0])
			}
			oracle = oracle[1:]
		}
		if q.n != len(oracle) {
			t.Fatalf("%d queued, want %d", q.n, len(oracle))
		}
	}
	for q.n > 0 {
		q.pop()
	}
	if len(q.ring) > maxIdleRing {
		t.Errorf("an empty queue keeps room for %d", len(q.ring))
	}
}

// The queue does not keep removed tasks reachable.
func TestQueueForgets(t *testing.T) {
	q := newQueue()
	for range 9 {
		q.push(func() error { return nil })
	}
	for q.n > 0 {
		q.pop()
	}
	for i, f := range append(q.ring, q.first[:]...) {
		if f != nil {
			t.Errorf("slot %d is not empty", i)
		}
	}
}
