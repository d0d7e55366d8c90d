package par

import (
	"math"
	"testing"
)

// Slices of elements of no size may have any length, and so have the parts of them that
// no memory is needed for.
func TestLongestSlices(t *testing.T) {
	s := make([]struct{}, math.MaxInt)
	for _, order := range []int{-1, 0, 1} {
		cmp := func(struct{}, struct{}) int { return order }
		all := func(goes bool) int {
			if goes {
				return math.MaxInt
			}
			return 0
		}
		if n := ahead(s, s[0], false, cmp); n != all(order < 0) {
			t.Errorf("cmp is %d: %d elements go ahead of x", order, n)
		}
		if n := ahead(s, s[0], true, cmp); n != all(order >= 0) {
			t.Errorf("cmp is %d: %d elements go ahead of their equal", order, n)
		}
		if n := behind(s, s[0], cmp); n != all(order < 0) {
			t.Errorf("cmp is %d: %d elements go behind x", order, n)
		}
		if yes := jitter(s, cmp); yes {
			t.Errorf("cmp is %d: jitter", order)
		}
	}
}
