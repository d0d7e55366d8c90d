package load

import (
	"testing"
	"time"
)

func TestSpin(t *testing.T) {
	once, again, other := Spin(1000), Spin(1000), Spin(1001)
	if once != again || once == other {
		t.Error("the result is not that of the steps")
	}
	if short, long := Steps(time.Microsecond), Steps(time.Millisecond); short < 1 || long < 900*short {
		t.Errorf("%d steps for a microsecond, %d for a millisecond", short, long)
	}
	if got := Steps(0); got != 1 {
		t.Errorf("%d steps for no time, want 1", got)
	}
}
