package auto

import "testing"

// TestPhaseNames holds the names that LimiterStats promises.
func TestPhaseNames(t *testing.T) {
	for phase, want := range map[Phase]string{
		Idle: "idle", SlowStart: "slow start", Holding: "holding", Probing: "probing", Fixed: "fixed",
	} {
		if got := phase.String(); got != want {
			t.Errorf("phase %d is called %q, want %q", int(phase), got, want)
		}
	}
}

func TestHistoryKeepsTheLast(t *testing.T) {
	for _, n := range []int{0, 1, maxChanges - 1, maxChanges, maxChanges + 1, 5*maxChanges + 7} {
		c := &Controller{search: &timedSearch{}}
		for i := range n {
			c.search.limit = i
			c.search.record(0, 0, "")
		}
		all := c.State().Changes
		if len(all) != min(n, maxChanges) {
			t.Errorf("%d changes of %d are kept", len(all), n)
		}
		for i, change := range all {
			if want := max(0, n-maxChanges) + i; change.Limit != want {
				t.Errorf("of %d changes number %d is %d, want %d", n, i, change.Limit, want)
			}
		}
		if len(all) > 0 {
			all[0].Limit = -1
			if c.State().Changes[0].Limit == -1 {
				t.Error("the caller can change what is kept")
			}
		}
	}
}
