package cluster

import (
	"testing"

	"github.com/nats-io/nats.go"
)

// A request that ends without a word of what was left of it is the oldest of its own
// inbox. What others ask for stays promised.
func TestRequestEndsWithoutACount(t *testing.T) {
	old, now := new(inbox), new(inbox)
	for _, c := range []struct {
		name, rest string
		in         *inbox
		promised   int
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
			l := &line{pulls: []pull{{left: 5, inbox: old}, {left: 2, inbox: now}, {left: 3, inbox: now}}}
			p := &puller{closed: true, promised: 10, lines: []*line{l}}
			p.ended(l, c.in, "409", nats.Header{"Nats-Pending-Messages": {c.rest}})
			if p.promised != c.promised || l.pending() != c.promised {
				t.Errorf("promised %d, and %d are asked for, want %d", p.promised, l.pending(), c.promised)
			}
		})
	}
}
