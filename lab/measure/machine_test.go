package measure

import "testing"

// A clock that stands still could not time samples.
func TestStep(t *testing.T) {
	if d := step(); d <= 0 {
		t.Errorf("the smallest step of the clock is %v", d)
	}
	if m := Here(); m.Timer <= 0 {
		t.Errorf("the machine has a timer of %d ns", m.Timer)
	}
}
