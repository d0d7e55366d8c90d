package limit

import (
	"math"
	"testing"
	"time"
)

func TestSystem(t *testing.T) {
	var s system
	now := time.Unix(1e9, 0)
	limit := func(after time.Duration, want int) {
		t.Helper()
		now = now.Add(after)
		if got := s.limit(now); got != want {
			t.Errorf("%d, want %d", got, want)
		}
	}
	limit(time.Hour, math.MaxInt)
	s.refused(10, "", now)
	limit(0, 10)
	limit(minPause-1, 10)
	limit(1, 12)
	limit(minPause, 15)
	s.refused(12, "", now) // after it was raised
	s.refused(11, "", now) // and another process at the same time
	limit(minPause, 11)
	limit(minPause, 13)
	limit(2*minPause, 16)
	s.refused(0, "", now)
	limit(0, 1)
	limit(4*minPause, 2)
	for range 20 {
		s.refused(5, "", now)
		limit(maxPause, 6)
	}
	limit(maxPause-1, 6)
	limit(1, 7)
}
