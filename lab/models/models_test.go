package models

import "testing"

// The results of a fan come in any order: that of the second number is received while the first is worked on.
func TestOrder(t *testing.T) {
	received, in := make(chan struct{}), source(Indexes(2), same, 0)
	f := func(x float64) uint64 {
		if x == 0 {
			<-received
		}
		return uint64(x)
	}
	out := merge([]<-chan uint64{stage(in, f, 0), stage(in, f, 0)}, 0)
	first := <-out
	close(received)
	if second := <-out; first != 1 || second != 0 {
		t.Errorf("the results are %d and %d, want 1 and 0", first, second)
	}
}
