package cluster

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/stint-go/stint"
)

// A Server is a NATS server that a client starts and stops, such as the server of package
// embedded. It keeps messages in memory, or syncs each message before it confirms it.
type Server interface {
	// Start starts the server and returns the options by which the NATS client connects to
	// it. After an error nothing is left running.
	Start(ServerConfig) ([]nats.Option, error)

	// URL returns the address at which other clients reach the server, or "" if they cannot.
	URL() string

	// Close stops the server, and returns when it has stopped.
	Close()
}

// ServerConfig configures a server that a client starts.
type ServerConfig struct {
	Prefix string       // of the client's streams and subjects
	Memory bool         // the client keeps its streams in memory
	Log    *slog.Logger // never nil

	// Fail closes the client. Calls of the client then return err. The server calls Fail when
	// it has failed for good.
	Fail func(err error)
}

// startTimeout bounds the connection to a started server, which takes milliseconds.
const startTimeout = 30 * time.Second

// Start starts s and returns a client that is connected to it. Close of the client also closes
// s. Start returns an error of s, and the errors of Connect. After an error s is not running.
// Start panics if s is nil.
func Start(s Server, opts ...ClientOption) (*Client, error) {
	if s == nil {
		panic("cluster: Start: nil Server")
	}
	c := newClient(configure("Start", opts))
	c.conf.synced, c.server = true, s
	inside, err := s.Start(ServerConfig{
		Prefix: c.conf.prefix, Memory: c.conf.memory, Log: c.conf.log,
		Fail: func(err error) { c.end(fmt.Errorf("%w: %w", stint.ErrClosed, err)) },
	})
	if err != nil {
		return nil, err
	}
	c.conf.nats = append(c.conf.nats, inside...)
	ctx, stop := context.WithTimeout(context.Background(), startTimeout)
	defer stop()
	if err = c.connect(ctx, "nats://embedded"); err != nil {
		s.Close()
		return nil, err
	}
	return c, nil
}
