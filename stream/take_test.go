package stream_test

import (
	"context"
	"testing"
	"time"

	"github.com/stint-go/stint/stream"
)

// Take is done with its last record: it does not wait for one more, nor drop it.
func TestTakeIsExact(t *testing.T) {
	bubble(t, "in front of stages", func(t *testing.T) {
		for _, st := range stages {
			c := filled(20)
			out, err := stream.Collect(context.Background(), st.add(stream.Take(stream.FromChan(c), 10)))
			equal(t, "error", err, nil)
			same(t, st.name, out, indexes(10))
			equal(t, st.name+": the next record", <-c, 10)
		}
	})
	bubble(t, "silent source", func(t *testing.T) { // the tenth is the last that ever comes
		for _, st := range stages {
			c := filled(10)
			out, err := stream.Collect(context.Background(), stream.Take(st.add(stream.FromChan(c)), 10))
			equal(t, "error", err, nil)
			same(t, st.name, out, indexes(10))
		}
		if sinceBubble() > time.Duration(len(stages))*time.Millisecond {
			t.Errorf("took %v", sinceBubble())
		}
	})
}
