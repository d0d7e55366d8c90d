package cluster

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stint-go/stint/cluster/internal/conf"
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

// A run ends when it is refused again and again for long, and not when it was refused a long
// time ago and is now.
func TestNoRoomAtLast(t *testing.T) {
	for _, c := range []struct {
		every time.Duration
		over  bool
	}{{time.Second, true}, {3 * time.Second, true}, {31 * time.Second, false}} {
		synctest.Test(t, func(t *testing.T) {
			ctx, end := context.WithCancelCause(t.Context())
			r := &run{e: &Engine{conf: conf.Config{Log: slog.New(slog.DiscardHandler)}}, rec: &record{}, sweep: make(chan struct{}, 1), end: end}
			for began := time.Now(); time.Since(began) < 2*time.Minute; time.Sleep(c.every) {
				r.noRoom("a result", errors.New("x"))
			}
			if over := ctx.Err() != nil; over != c.over || over != errors.Is(r.err, ErrFull) {
				t.Errorf("refused each %v: ended: %v, %v; want %v", c.every, over, r.err, c.over)
			}
		})
	}
}

// The text of a worker is quoted if it may do something to a terminal.
func TestTextOfAWorkerIsQuoted(t *testing.T) {
	e := &Engine{conf: conf.Config{Log: slog.New(slog.DiscardHandler), FullFor: time.Nanosecond}}
	for text, want := range map[string]string{"no room": "no room", "\x1b[31mno\n": `"\x1b[31mno\n"`} {
		r := &run{e: e, rec: &record{}, sweep: make(chan struct{}, 1), end: func(error) {}}
		m := owned("stint.full.run", []byte(text))
		r.toldFull(&nats.Msg{Data: m.Data}) // not of a worker
		if !r.full.IsZero() {
			t.Error("a word without the header counts")
		}
		r.toldFull(m)
		time.Sleep(time.Microsecond)
		r.toldFull(m)
		if r.err == nil || !strings.HasSuffix(r.err.Error(), want) {
			t.Errorf("got %v, want %s", r.err, want)
		}
	}
}
