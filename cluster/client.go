package cluster

import (
	"context"
	"errors"
	"maps"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stint-go/stint"
)

// A Client is a connection to a NATS server with JetStream, which stores the queue and the
// results. Make one with Connect, or with Open of package embedded. Its methods, and the
// functions that take a Client, may be called concurrently.
type Client struct {
	conf     config
	nc       *nats.Conn
	js       jetstream.JetStream
	server   Server // nil unless Start has started it
	names    names
	stream   map[string]jetstream.Stream // by the last part of its name
	life     context.Context             // ends with Close, with the cause stint.ErrClosed
	end      context.CancelCauseFunc
	once     sync.Once
	gate     sync.RWMutex // held for reading while something is published for a run: see publish
	denied   atomic.Pointer[denial]
	limiting *stint.Limiter // of writers of limits: one

	limits  jetstream.AccountLimits // when the client connected
	maxAcks atomic.Int64            // the largest Limit that the server takes; 0: any
	halved  atomic.Int32            // how often the sizes of streams were halved, for want of room

	mu        sync.Mutex
	handlers  map[string]Handler                  // by token
	workers   map[*worker]bool                    // the calls of Serve that have not returned
	runs      map[*run]bool                       // of this submitter
	consumers map[string]jetstream.ConsumerConfig // of tasks, by token
	served    bool                                // Serve was called
	restoring *restoration                        // of streams that were deleted, while it runs
}

func newClient(conf config) *Client {
	c := &Client{
		conf: conf, names: names{conf.prefix}, stream: map[string]jetstream.Stream{}, limiting: stint.Limit(1),
		handlers: map[string]Handler{}, workers: map[*worker]bool{}, runs: map[*run]bool{}, consumers: map[string]jetstream.ConsumerConfig{},
	}
	c.life, c.end = context.WithCancelCause(context.Background())
	return c
}

// Handle makes Serve run the tasks with the name of t. It panics if t is nil, if the name
// already has a handler, or if Serve was called before.
func (c *Client) Handle(t Handler) {
	if v := reflect.ValueOf(t); !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil() {
		panic("cluster: Handle: nil Handler")
	}
	k := t.about()
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.served:
		panic("cluster: Handle: " + k.name + " after Serve")
	case c.handlers[k.token] != nil:
		panic("cluster: Handle: a second handler of " + k.name)
	}
	c.handlers[k.token] = t
}

// URL returns the address of the server without passwords. It is empty if the server is
// embedded and does not listen.
func (c *Client) URL() string {
	if c.server != nil {
		return c.server.URL()
	}
	return withoutSecrets(c.nc.ConnectedUrl())
}

// Wait waits until the client is closed, and returns stint.ErrClosed. If ctx ends first, Wait
// returns its cause. Close closes a client. A client also closes itself when an embedded server
// has failed for good, or when the NATS client has given up. Then the error also says why.
func (c *Client) Wait(ctx context.Context) error {
	select {
	case <-c.life.Done():
		return context.Cause(c.life)
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Close closes the client, and stops its server if the server is embedded. Serve, Map and
// MapSeq return stint.ErrClosed. The contexts of running tasks end, and the tasks go back to
// the queue. Serve returns when their functions have returned; Close does not wait for these
// functions. Runs with a Name stay, for Resume. Other runs are removed if the server answers.
// Otherwise workers drop their tasks. The second Close does nothing.
func (c *Client) Close() error {
	c.once.Do(func() {
		workers := snapshot(c, c.workers)
		for _, w := range workers {
			w.puller.pause() // or the server gives them the tasks that they return
		}
		c.seal()
		for _, w := range workers {
			w.leases.requeue()
		}
		_ = stint.Each(context.Background(), snapshot(c, c.runs), func(_ context.Context, r *run) error {
			if r.rec.Named {
				r.foreign.Store(true)
			}
			r.cleanup() // or wait for the cleanup that the end of the run has started
			return nil
		}, stint.Limit(maxRemovals))
		_ = c.nc.FlushTimeout(time.Second) // if it fails, the leases end
		c.nc.Close()
		if c.server != nil {
			c.server.Close()
		}
	})
	return nil
}

// seal closes the client for publish; it returns when no publication is in progress.
func (c *Client) seal() {
	c.end(stint.ErrClosed)
	c.gate.Lock()
	defer c.gate.Unlock()
}

// snapshot returns the keys of one of the client's maps.
func snapshot[T comparable](c *Client, m map[T]bool) []T {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Collect(maps.Keys(m))
}

// enter makes Close clean up the run until leave. It returns an error if the client is closed.
func (c *Client) enter(r *run) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.life.Err() == nil {
		c.runs[r] = true
	}
	return context.Cause(c.life)
}

func (c *Client) leave(r *run) {
	_ = r.over.Unsubscribe()
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.runs, r)
}

// orCause returns the error of a call that has failed with err: the cause if ctx has ended or
// the client is closed, otherwise err.
func (c *Client) orCause(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	if c.life.Err() != nil && err != nil && !errors.Is(err, stint.ErrClosed) {
		return context.Cause(c.life)
	}
	return err
}
