package auto

import "testing"

// TestPhaseNames are part of what LimiterStats promises.
func TestPhaseNames(t *testing.T) {
	for phase, want := range map[Phase]string{
		Idle: "idle", Rising: "rising", Holding: "holding", Probing: "probing", Fixed: "fixed",
	} {
		if got := phase.String(); got != want {
			t.Errorf("phase %d is called %q, want %q", int(phase), got, want)
		}
	}
}
