package cluster

import (
	"fmt"
	"testing"

	"github.com/nats-io/nats.go/jetstream"
)

// What a server says that is full, that a stream has all that it may have, and that something
// else is wrong.
func TestIsFull(t *testing.T) {
	for _, c := range []struct {
		code jetstream.ErrorCode
		text string
		want refusal
	}{
		{10023, "insufficient resources", full},
		{10047, "insufficient storage resources available", full},
		{10077, "write 1.blk: file too large", full},
		{10077, "maximum messages exceeded", queued},
		{10077, "maximum bytes exceeded", queued},
		{10077, "maximum messages per subject exceeded", taken},
		{10077, "store is closed", unsure},
		{10012, "error creating store for consumer", full},
		{10012, "open meta.inf.tmp: no space left on device", full},
		{10012, "consumer cannot do that", unsure},
		{10008, "JetStream system temporarily unavailable", unsure},
	} {
		err := fmt.Errorf("wrapped: %w", &jetstream.APIError{ErrorCode: c.code, Description: c.text})
		if got := refused(err); got != c.want || isFull(err) != (c.want == full) {
			t.Errorf("%d %s: got %d, full: %v, want %d", c.code, c.text, got, isFull(err), c.want)
		}
	}
}
