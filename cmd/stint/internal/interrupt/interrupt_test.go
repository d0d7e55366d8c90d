package interrupt

import (
	"context"
	"errors"
	"testing"
)

// TestSeqYieldsTheCause ends the context while the values come, and wants its cause after
// them.
func TestSeqYieldsTheCause(t *testing.T) {
	for range 1000 {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		left := make(chan struct{})
		endless := func(yield func(int, error) bool) {
			defer close(left)
			for yield(0, nil) {
				<-ctx.Done()
			}
		}
		var last error
		for _, last = range Seq(ctx, endless) {
			cancel()
			<-left
		}
		if !errors.Is(last, context.Canceled) {
			t.Fatalf("the last error is %v, want context.Canceled", last)
		}
	}
}
