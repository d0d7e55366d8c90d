package server

import (
	"context"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/stint-go/stint/cluster/embedded"
	"github.com/stint-go/stint/cmd/stint/internal/console"
)

// TestParcelsWaitForTheServer makes each request first while no server listens: it is made when one
// does.
func TestParcelsWaitForTheServer(t *testing.T) {
	for name, request := range map[string]func(context.Context, *Parcels) error{
		"Open": func(ctx context.Context, p *Parcels) error { return p.Open(ctx) },
		"Send": func(ctx context.Context, p *Parcels) error { return p.Send(ctx, "run", []byte("a")) },
		"Receive": func(ctx context.Context, p *Parcels) error {
			ctx, cancel := context.WithCancel(ctx)
			p.Receive(ctx, "run", func([]byte) { cancel() })
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			address := l.Addr().String()
			l.Close()
			var errs strings.Builder
			p, err := (&Connection{URL: "nats://secret@" + address}).NewParcels(console.New(&errs))
			if err != nil {
				t.Fatal(err)
			}
			defer p.Close()
			done := make(chan error, 1)
			go func() { done <- request(ctx, p) }()
			select {
			case err := <-done:
				t.Fatalf("without a server: %v, want that it waits", err)
			case <-time.After(200 * time.Millisecond):
			}
			c, err := embedded.Open(embedded.Listen(address, embedded.Token("secret")))
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			if err := <-done; err != nil || errs.Len() > 0 {
				t.Errorf("%v, messages %q, want none", err, &errs)
			}
		})
	}
}

// A server, or servers, may have too little room for a stream of that size, or have none for
// another reason.
func TestIsShort(t *testing.T) {
	for _, c := range []struct {
		code jetstream.ErrorCode
		text string
		want bool
	}{
		{10005, "no suitable peers for placement, insufficient storage", true},
		{10005, "no suitable peers for placement, peer offline", false},
		{10028, "insufficient memory resources available", true},
		{10047, "insufficient storage resources available", true},
		{10122, "stream max bytes exceeds account limit max stream bytes", true},
		{10027, "maximum number of streams reached", false},
	} {
		if got := isShort(&jetstream.APIError{ErrorCode: c.code, Description: c.text}); got != c.want {
			t.Errorf("%d %s: got %v, want %v", c.code, c.text, got, c.want)
		}
	}
}
