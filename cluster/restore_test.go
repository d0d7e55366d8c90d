package cluster

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// A goneServer is a JetStream server whose streams are deleted. It answers nothing until up, finds the
// deletion over at once, and creates streams as create says.
type goneServer struct {
	jetstream.JetStream
	up      time.Time
	create  func(context.Context) error
	created atomic.Int32
}

func (m *goneServer) Stream(ctx context.Context, name string) (jetstream.Stream, error) {
	if time.Now().Before(m.up) {
		return nil, nats.ErrNoResponders
	}
	return nil, jetstream.ErrStreamNotFound
}

func (m *goneServer) Publish(context.Context, string, []byte, ...jetstream.PublishOpt) (*jetstream.PubAck, error) {
	return nil, jetstream.ErrNoStreamResponse
}

func (m *goneServer) CreateStream(ctx context.Context, _ jetstream.StreamConfig) (jetstream.Stream, error) {
	err := m.create(ctx)
	if err == nil {
		m.created.Add(1)
	}
	return nil, err
}

// restoring returns a Client of a server m, and a function that asks for a stream which is
// gone until m has created all.
func restoring(t *testing.T, m *goneServer) (*Client, func(context.Context) error) {
	c := newClient(config{prefix: "p", log: slog.New(slog.DiscardHandler), fullTimeout: 30 * time.Second})
	c.js = m
	t.Cleanup(func() { c.end(errors.New("the test is over")) })
	return c, func(ctx context.Context) error {
		return c.request(ctx, func(context.Context) error {
			if int(m.created.Load()) < len(c.streams()) {
				return jetstream.ErrStreamNotFound
			}
			return nil
		})
	}
}

// A request whose stream is gone outlives the request that was restoring it, for a server that
// does not answer at first.
func TestRestoreOutlivesItsCaller(t *testing.T) {
	for _, end := range []error{context.Canceled, context.DeadlineExceeded} {
		synctest.Test(t, func(t *testing.T) {
			m := &goneServer{up: time.Now().Add(5 * time.Second), create: func(context.Context) error { return nil }}
			c, ask := restoring(t, m)
			first, stop := context.WithTimeout(t.Context(), 1500*time.Millisecond)
			if end == context.Canceled {
				first, stop = context.WithCancel(t.Context())
				time.AfterFunc(1500*time.Millisecond, stop)
			}
			defer stop()
			ended := make(chan error, 1)
			go func() { ended <- ask(first) }()
			synctest.Wait()
			if err := ask(t.Context()); err != nil || int(m.created.Load()) != len(c.streams()) {
				t.Errorf("%v: got %v with %d streams, want all streams", end, err, m.created.Load())
			}
			if err := <-ended; err == nil {
				t.Errorf("%v: the first request succeeded, and it had ended", end)
			}
		})
	}
}

// A denial of the call that creates the streams ends all requests that wait for it.
func TestDeniedRestoreEndsAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := new(goneServer)
		c, ask := restoring(t, m)
		m.create = func(ctx context.Context) error {
			c.denied.Store(&denial{nats.ErrPermissionViolation, time.Now()})
			<-ctx.Done()
			return ctx.Err()
		}
		ended := make(chan error, 3)
		for range cap(ended) {
			go func() { ended <- ask(t.Context()) }()
		}
		for range cap(ended) {
			if err := <-ended; !errors.Is(err, nats.ErrPermissionViolation) {
				t.Errorf("got %v, want the denial", err)
			}
		}
	})
}

// A panic, such as of the caller's Log, ends a restoration, and the next call restores.
func TestRestoreAfterAPanic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &goneServer{create: func(context.Context) error { panic("of a log") }}
		_, ask := restoring(t, m)
		func() {
			defer func() { _ = recover() }()
			_ = ask(t.Context())
		}()
		m.create = func(context.Context) error { return nil }
		if err := ask(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// A server without room for a stream is full, and the stream is not lost. Streams that have
// sizes become smaller, unless there is another reason.
func TestRestoreOnAFullServer(t *testing.T) {
	for _, c := range []struct {
		code  jetstream.ErrorCode
		text  string
		sized bool
		fits  int32 // so often halved
		want  error
	}{
		{10047, "insufficient storage resources available", false, 2, ErrFull},
		{10047, "insufficient storage resources available", true, 2, nil},
		{10047, "insufficient storage resources available", true, 8, nil},
		{10047, "insufficient storage resources available", true, 9, ErrFull},
		{10028, "insufficient memory resources available", true, 2, nil},
		{10122, "stream max bytes exceeds account limit max stream bytes", true, 2, nil},
		{10005, "no suitable peers for placement, insufficient storage", true, 2, nil},
		{10027, "maximum number of streams reached", true, 1, ErrFull},
	} {
		synctest.Test(t, func(t *testing.T) {
			m := &goneServer{}
			client, ask := restoring(t, m)
			client.limits.MaxBytesRequired = c.sized
			m.create = func(context.Context) error {
				if client.halved.Load() >= c.fits {
					return nil
				}
				return &jetstream.APIError{Code: 500, ErrorCode: c.code, Description: c.text}
			}
			if err := ask(t.Context()); !errors.Is(err, c.want) {
				t.Errorf("%+v: got %v", c, err)
			}
		})
	}
}
