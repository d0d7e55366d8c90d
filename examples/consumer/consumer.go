package main

import (
	"context"
	"errors"
	"io"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/stream"
)

// A consumer handles the messages of a broker: of different keys concurrently, of one key
// in order. Each message is handled at least once: a message is committed after it and all
// before it in its partition have been handled, and a new consumer starts after the last
// commit.
type consumer struct {
	broker broker
	handle func(context.Context, message) error
	every  int // messages per commit; while no more come, the last few wait for theirs
	limit  *stint.Limiter
}

// run handles messages until the broker is closed, ctx ends, or something fails. An error
// of handle ends it, so that the message is not lost: retries are up to handle, and so is
// where to put messages that can never be handled.
func (c *consumer) run(ctx context.Context) error {
	messages := stream.Generate(c.messages)
	handled := stream.ParMapKey(messages, func(m message) string { return m.key }, func(ctx context.Context, m message) (message, error) {
		return m, c.handle(ctx, m)
	}, c.limit)

	// The results are in the order of the messages, so those before m have been handled.
	n, next := 0, map[int]int{}
	for m, err := range handled.All(ctx) {
		if err != nil {
			return errors.Join(err, c.commit(context.WithoutCancel(ctx), next))
		}
		next[m.partition] = m.offset + 1
		if n++; n%c.every == 0 {
			if err := c.commit(ctx, next); err != nil {
				return err
			}
		}
	}
	return c.commit(ctx, next)
}

// commit commits these offsets, and forgets them.
func (c *consumer) commit(ctx context.Context, next map[int]int) error {
	for partition, offset := range next {
		if err := c.broker.commit(ctx, partition, offset); err != nil {
			return err
		}
		delete(next, partition)
	}
	return nil
}

// messages emits the messages that have not been committed, and then new ones.
func (c *consumer) messages(ctx context.Context, emit func(message) bool) error {
	next, err := c.broker.committed(ctx)
	var batch []message
	for err == nil {
		batch, err = c.broker.poll(ctx, next)
		for _, m := range batch {
			if !emit(m) {
				return nil
			}
			next[m.partition] = m.offset + 1
		}
	}
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}
