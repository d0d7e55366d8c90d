package cluster

import (
	"context"
	"errors"
	"math"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// A restoration is one call that creates the streams that were deleted.
type restoration struct {
	done chan struct{} // closed when it has ended
	err  error         // after done; errAbandoned if its caller has gone
}

var errAbandoned = errors.New("the restoration was abandoned")

// restore creates the streams that were deleted, without their messages. It returns nil when
// it has found or created each. Concurrent calls share one restoration and its error: a caller
// that went on while another is refused would try again forever.
func (c *Client) restore(ctx context.Context) error {
	for {
		c.mu.Lock()
		r := c.restoring
		if r == nil {
			r = &restoration{done: make(chan struct{}), err: errAbandoned}
			c.restoring = r
			c.mu.Unlock()
			return c.lead(ctx, r)
		}
		c.mu.Unlock()
		select {
		case <-r.done:
			if r.err != errAbandoned {
				return r.err
			}
		case <-ctx.Done():
			return ctx.Err()
		case <-c.life.Done():
			return context.Cause(c.life)
		}
	}
}

// lead runs the restoration r for all who wait for it.
func (c *Client) lead(ctx context.Context, r *restoration) error {
	defer func() {
		c.mu.Lock()
		c.restoring = nil
		c.mu.Unlock()
		close(r.done)
	}()
	err := c.restoreStreams(ctx)
	if ctx.Err() == nil || errors.Is(err, nats.ErrPermissionViolation) {
		r.err = err
	}
	return err
}

func (c *Client) restoreStreams(ctx context.Context) error {
	ctx, stop := context.WithTimeout(ctx, slowTimeout)
	defer stop()
	return c.eachStream(func(want jetstream.StreamConfig) error {
		err := c.requestWith(ctx, 0, nil, func(ctx context.Context) error { return c.awaitDeletion(ctx, want) })
		if err != nil {
			return err
		}
		return c.requestWith(ctx, 0, nil, func(ctx context.Context) error {
			_, err := c.openStream(ctx, want)
			return err
		})
	})
}

// awaitDeletion returns when a stream exists, or when the server has deleted all of it.
//
// A server that is not in a NATS cluster does not find a stream from the start of its deletion
// on, and creates another with its name and in its directory. Then it ends the subscription
// of the old stream and removes the directory. The new stream exists, but never answers a
// message (nats-server 2.15.2, stream.stop and fileStore.Delete). So awaitDeletion publishes
// a message that a stream refuses, until nobody has subscribed for a second.
func (c *Client) awaitDeletion(ctx context.Context, want jetstream.StreamConfig) error {
	_, err := c.js.Stream(ctx, want.Name)
	if !errors.Is(err, jetstream.ErrStreamNotFound) {
		return err
	}
	subject := strings.NewReplacer("*", "x", ">", "x").Replace(want.Subjects[0])
	_, err = c.js.Publish(ctx, subject, nil, jetstream.WithExpectLastSequence(math.MaxInt64),
		jetstream.WithRetryAttempts(4), jetstream.WithRetryWait(time.Second/4)) // while nobody has subscribed
	if _, refused := errors.AsType[*jetstream.APIError](err); refused { // another client has created it
		return nil
	}
	if errors.Is(err, jetstream.ErrNoStreamResponse) {
		return nil
	}
	return err
}
