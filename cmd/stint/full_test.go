package main

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stint-go/stint/cluster"
)

// full starts a server whose memory is full, where streams are in memory, and returns its URL and
// what makes room.
func full(t *testing.T) (url string, empty func()) {
	t.Helper()
	s, err := server.NewServer(&server.Options{
		Host: "127.0.0.1", Port: server.RANDOM_PORT, JetStream: true, JetStreamMaxMemory: 1 << 20, StoreDir: t.TempDir(), NoSigs: true, NoLog: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	go s.Start()
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	if !s.ReadyForConnections(20 * time.Second) {
		t.Fatal("the server does not begin")
	}
	e, err := cluster.Connect(t.Context(), s.ClientURL(), cluster.Memory()) // makes the streams
	if err != nil {
		t.Fatal(err)
	}
	e.Close()
	nc, err := nats.Connect(s.ClientURL())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	other, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "other", Subjects: []string{"other"}, Storage: jetstream.MemoryStorage})
	for err == nil {
		_, err = js.Publish(t.Context(), "other", make([]byte, 1<<18))
	}
	if api := new(jetstream.APIError); !errors.As(err, &api) {
		t.Fatal(err)
	}
	return s.ClientURL(), func() {
		if err := other.Purge(context.Background()); err != nil {
			t.Error(err)
		}
	}
}

// TestServerFull wants a message while the server is, and the digests when there is room.
func TestServerFull(t *testing.T) {
	grow(t)
	url, empty := full(t)
	worker(t, "--cluster", url)
	want, _, _ := runStint(t, "", "sum", "tree/3")
	b := begin(t, true, "sum", "tree/3", "--cluster", url, "-o", "SUMS")
	if line := b.line(); !strings.HasPrefix(line, "stint: the server is full: ") || !strings.HasSuffix(line, "; waiting for room") {
		t.Errorf("message %q, want that the server is full", line)
	}
	empty()
	<-b.done
	if got, err := os.ReadFile("SUMS"); b.status != 0 || string(got) != want {
		t.Errorf("exit status %d, messages %q, %v, %s", b.status, &b.errs, err, difference(string(got), want))
	}
	if n := strings.Count(b.errs.String(), "\n"); n != 1 {
		t.Errorf("%d messages, want 1: %q", n, &b.errs)
	}
}
