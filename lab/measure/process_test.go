package measure

import "testing"

func TestPeakBelowTheFloorIsHidden(t *testing.T) {
	const mb = 1 << 20
	for _, c := range []struct {
		peak, floor int64
		want        bool
	}{{0, 0, false}, {0, mb, false}, {mb, 0, false}, {2 * mb, 3 * mb, true}, {3 * mb, 3 * mb, true}, {4 * mb, 3 * mb, false}} {
		if got := (Usage{PeakRSS: c.peak, Floor: c.floor}).isBound(); got != c.want {
			t.Errorf("peak %d, floor %d: hidden %v, want %v", c.peak, c.floor, got, c.want)
		}
	}
}
