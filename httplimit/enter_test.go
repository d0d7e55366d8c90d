package httplimit

import (
	"testing"

	"github.com/stint-go/stint/internal/testkit"
)

// A request that is refused takes no room, not even while it is being refused.
func TestRefusedRequestTakesNoRoom(t *testing.T) {
	h := &handler{room: 2}
	for i, want := range []bool{true, true, false, false} {
		testkit.Equal(t, "may wait", h.enter(), want)
		testkit.Equal(t, "requests that wait", h.waiting.Load(), int64(min(i+1, 2)))
	}
	h.waiting.Add(-1)
	testkit.Equal(t, "may wait", h.enter(), true)
}
