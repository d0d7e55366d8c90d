package cluster

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// A restoration is one call that creates the streams that were deleted.
type restoration struct {
	done chan struct{} // closed when it has ended
	err  error         // after done
}

// restore creates the streams that were deleted, without their messages, and returns nil when
// all streams exist. Concurrent calls share one restoration and its error: a caller that went
// on while another is refused would try again forever.
func (c *Client) restore(ctx context.Context) error {
	for {
		c.mu.Lock()
		r := c.restoring
		isOwn := r == nil
		if isOwn {
			r = &restoration{done: make(chan struct{})}
			c.restoring = r
		}
		c.mu.Unlock()
		if isOwn {
			r.err = c.restoreStreams(ctx)
			c.mu.Lock()
			c.restoring = nil
			c.mu.Unlock()
			close(r.done)
			return r.err
		}
		select {
		case <-r.done:
			if !errors.Is(r.err, context.Canceled) { // the other call was canceled
				return r.err
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (c *Client) restoreStreams(ctx context.Context) error {
	ctx, stop := context.WithTimeout(ctx, slowTimeout)
	defer stop()
	for _, want := range c.streams() {
		err := c.requestWith(ctx, c.conf.fullTimeout, nil, func(ctx context.Context) error {
			return c.awaitDeletion(ctx, want)
		})
		if err == nil {
			err = c.requestWith(ctx, c.conf.fullTimeout, nil, func(ctx context.Context) error {
				_, err := c.openStream(ctx, want)
				return err
			})
		}
		if err != nil {
			return fmt.Errorf("stream %s: %w", want.Name, err)
		}
	}
	return nil
}

// awaitDeletion waits until the server has deleted a stream. It returns nil, too, when the
// stream exists.
//
// A server that is not in a NATS cluster does not find a stream from the start of its deletion
// on, and creates another with its name and in its directory. Then it ends the subscription
// of the old stream and removes the directory. The new stream exists, but never answers a
// message (nats-server 2.15.2, stream.stop and fileStore.Delete). So awaitDeletion publishes
// a message that a stream refuses, until nobody has subscribed for a second.
func (c *Client) awaitDeletion(ctx context.Context, want jetstream.StreamConfig) error {
	if _, err := c.js.Stream(ctx, want.Name); !errors.Is(err, jetstream.ErrStreamNotFound) {
		return err
	}
	subject := strings.NewReplacer("*", "x", ">", "x").Replace(want.Subjects[0])
	_, err := c.js.Publish(ctx, subject, nil, jetstream.WithExpectLastSequence(math.MaxInt64),
		jetstream.WithRetryAttempts(4), jetstream.WithRetryWait(time.Second/4)) // while nobody has subscribed
	if _, refused := errors.AsType[*jetstream.APIError](err); refused || errors.Is(err, jetstream.ErrNoStreamResponse) {
		return nil
	}
	return err
}
