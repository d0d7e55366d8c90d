package cluster

import (
	"testing"

	"github.com/nats-io/nats.go"
)

// A request that ends without a count is the oldest of its inbox. Other requests stay.
func TestRequestEndsWithoutACount(t *testing.T) {
	old, now := new(inbox), new(inbox)
	for _, c := range []struct {
		name, rest string
		in         *inbox
		requested  int
	}{
		{"no count", "", now, 5 + 3},
		{"no count, old inbox", "", old, 2 + 3},
		{"no number", "many", now, 5 + 3},
		{"a part", "1", now, 5 + 1 + 3},
		{"less than nothing", "-7", now, 5 + 2 + 3},
		{"more than there is", "99", now, 5},
		{"nobody's", "", new(inbox), 5 + 2 + 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			q := &taskQueue{pulls: []pull{{left: 5, inbox: old}, {left: 2, inbox: now}, {left: 3, inbox: now}}}
			p := &puller{closed: true, requested: 10, queues: []*taskQueue{q}}
			p.onEnd(q, c.in, "409", nats.Header{"Nats-Pending-Messages": {c.rest}})
			if p.requested != c.requested || q.pending() != c.requested {
				t.Errorf("requested %d, and %d are asked for, want %d", p.requested, q.pending(), c.requested)
			}
		})
	}
}
