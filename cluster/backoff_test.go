package cluster

import (
	"math"
	"testing"
	"time"
)

// A backoff is between half of its nominal length and all of it.
func TestBackoff(t *testing.T) {
	firsts := []time.Duration{0, 1, 2, time.Millisecond, time.Second, 18 * time.Second, 20 * time.Second, time.Minute, time.Hour, 1 << 62, math.MaxInt64}
	for _, first := range firsts {
		want := min(first, time.Minute)
		for n := range 100 {
			for range 10 {
				if d := backoff(first, n); d < want/2 || d > want {
					t.Fatalf("backoff(%v, %d) = %v, want %v to %v", first, n, d, want/2, want)
				}
			}
			want = min(2*want, time.Minute)
		}
	}
	for _, n := range []int{1 << 20, math.MaxInt} {
		if d := backoff(time.Second, n); d < time.Minute/2 || d > time.Minute {
			t.Errorf("backoff(1s, %d) = %v", n, d)
		}
	}
}
