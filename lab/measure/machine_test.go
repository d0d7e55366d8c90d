package measure

import "testing"

// A clock that stands still would let no sample be timed.
func TestStep(t *testing.T) {
	if d := step(); d <= 0 {
		t.Errorf("the smallest step of the clock is %v", d)
	}
	if m := Here(); m.Timer <= 0 {
		t.Errorf("the machine has a timer of %d ns", m.Timer)
	}
}
