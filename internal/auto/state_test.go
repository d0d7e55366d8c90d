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

// TestHistoryKeepsTheLast has the history belong to the caller.
func TestHistoryKeepsTheLast(t *testing.T) {
	c := &Controller{search: &timedSearch{search: search{Config: Config{Max: 1000}}}}
	for i := range 3 * maxChanges {
		c.search.limit = i
		c.search.record(0, 0, "")
	}
	for range 2 {
		all := c.State().Changes
		if len(all) != maxChanges || all[0].Limit != 2*maxChanges || all[maxChanges-1].Limit != 3*maxChanges-1 {
			t.Errorf("%d changes are kept, the first is %d", len(all), all[0].Limit)
		}
		all[0].Limit = -1
	}
}
