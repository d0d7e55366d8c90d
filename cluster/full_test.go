package cluster

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// Errors of a full server, a full stream, and others are told apart.
func TestIsFull(t *testing.T) {
	for _, c := range []struct {
		code jetstream.ErrorCode
		text string
		want refusal
	}{
		{10023, "insufficient resources", serverFull},
		{10047, "insufficient storage resources available", serverFull},
		{10077, "write 1.blk: file too large", serverFull},
		{10077, "maximum messages exceeded", queueFull},
		{10077, "maximum bytes exceeded", queueFull},
		{10077, "maximum messages per subject exceeded", taken},
		{10077, "store is closed", unsure},
		{10012, "error creating store for consumer", serverFull},
		{10012, "open meta.inf.tmp: no space left on device", serverFull},
		{10012, "consumer cannot do that", unsure},
		{10008, "JetStream system temporarily unavailable", unsure},
	} {
		err := fmt.Errorf("wrapped: %w", &jetstream.APIError{ErrorCode: c.code, Description: c.text})
		if got := refusalOf(err); got != c.want || isFull(err) != (c.want == serverFull) {
			t.Errorf("%d %s: got %d, full: %v, want %d", c.code, c.text, got, isFull(err), c.want)
		}
	}
}

// A run ends when it is refused again and again for FullTimeout, not when two refusals are far
// apart.
func TestNoRoomAtLast(t *testing.T) {
	for _, c := range []struct {
		every time.Duration
		over  bool
	}{{time.Second, true}, {3 * time.Second, true}, {31 * time.Second, false}} {
		synctest.Test(t, func(t *testing.T) {
			ctx, end := context.WithCancelCause(t.Context())
			r := &run{client: &Client{conf: configure("", nil)}, rec: &record{}, purgeNow: make(chan struct{}, 1), end: end}
			for began := time.Now(); time.Since(began) < 2*time.Minute; time.Sleep(c.every) {
				r.noteFull("a result", errors.New("x"))
			}
			if over := ctx.Err() != nil; over != c.over || over != errors.Is(r.err, ErrFull) {
				t.Errorf("refused each %v: ended: %v, %v; want %v", c.every, over, r.err, c.over)
			}
		})
	}
}

// The text of a worker is quoted if it may change a terminal.
func TestTextOfAWorkerIsQuoted(t *testing.T) {
	c := &Client{conf: configure("", []ClientOption{FullTimeout(time.Nanosecond)})}
	for text, want := range map[string]string{"no room": "no room", "\x1b[31mno\n": `"\x1b[31mno\n"`, "a\xff": `"a\xff"`} {
		r := &run{client: c, rec: &record{}, purgeNow: make(chan struct{}, 1), end: func(error) {}}
		m := owned("stint.full.run", []byte(text))
		r.onFull(&nats.Msg{Data: m.Data}) // not of a worker
		if !r.full.IsZero() {
			t.Error("a word without the header counts")
		}
		r.onFull(m)
		time.Sleep(time.Microsecond)
		r.onFull(m)
		if r.err == nil || !strings.HasSuffix(r.err.Error(), want) {
			t.Errorf("got %v, want %s", r.err, want)
		}
	}
}
