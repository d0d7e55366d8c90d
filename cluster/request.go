package cluster

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

const (
	requestTimeout = 2 * time.Second    // for one answer
	slowTimeout    = 5 * requestTimeout // for an answer to a request that is not repeated: a busy server may be slow

	retriesUntilWarning = 8 // of a publication, before Log says so
	retriesUntilDenial  = 2 // before a denial is believed: it may belong to a concurrent call
)

// request calls f, which makes a request, until the server has answered, ctx ends or the
// client is closed. Servers that elect a leader drop requests, so f is called again soon, and
// must be idempotent. request returns ErrFull when the server has no room for FullTimeout.
func (c *Client) request(ctx context.Context, f func(context.Context) error) error {
	return c.requestFor(ctx, c.conf.fullTimeout, f)
}

// requestFor is request with a FullTimeout.
func (c *Client) requestFor(ctx context.Context, fullTimeout time.Duration, f func(context.Context) error) error {
	return c.requestWith(ctx, fullTimeout, c.restore, f)
}

// requestWith is requestFor with the function that creates missing streams; nil creates none.
func (c *Client) requestWith(ctx context.Context, fullTimeout time.Duration, restore func(context.Context) error, f func(context.Context) error) error {
	var full time.Time
	for n := 0; ; n++ {
		start := time.Now()
		once, stop := context.WithTimeout(ctx, requestTimeout)
		err := f(once)
		stop()
		restored := false
		if isStreamGone(err) && restore != nil {
			switch failed := restore(ctx); {
			case errors.Is(failed, nats.ErrPermissionViolation):
				return fmt.Errorf("%w: %w", failed, err)
			case isFull(failed):
				err = failed
			default:
				restored = failed == nil || isUnanswered(failed)
			}
		}
		if denied := c.deniedSince(start, err); denied != nil && !restored {
			return denied
		}
		switch {
		case isFull(err):
			err = fmt.Errorf("%w: %w", ErrFull, err)
			if fullTimeout == 0 || !full.IsZero() && time.Since(full) >= fullTimeout {
				return err
			}
			if full.IsZero() {
				full = time.Now()
				c.conf.log.Warn("cluster: a request waits for room", "error", err)
			}
		case err == nil || !restored && !isUnanswered(err):
			return err
		}
		if ctx.Err() != nil || c.life.Err() != nil {
			return err
		}
		select {
		case <-time.After(min(backoff(20*time.Millisecond, n), time.Second)):
		case <-ctx.Done():
			return err
		case <-c.life.Done():
			return err
		}
	}
}

// connected calls f, whose requests nobody has to answer, again while the connection is lost
// meanwhile.
func (c *Client) connected(ctx context.Context, f func() error) error {
	for n := 0; ; n++ {
		before := c.nc.Stats().Reconnects
		err := f()
		if c.nc.IsConnected() && c.nc.Stats().Reconnects == before || c.life.Err() != nil || !sleep(ctx, min(backoff(20*time.Millisecond, n), time.Second)) {
			return err
		}
	}
}

// uninterrupted calls f, which changes data that other clients change too. It waits for the
// answer even when ctx ends: the server may carry out an abandoned request after a later
// one.
func uninterrupted(ctx context.Context, f func(context.Context) error) error {
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), requestTimeout)
	defer stop()
	return f(ctx)
}

// deniedSince returns the permission error that the server has sent since start, if it may be
// why a request failed with err, which says that there was no answer.
func (c *Client) deniedSince(start time.Time, err error) error {
	if errors.Is(err, nats.ErrPermissionViolation) { // of a restoration
		return err
	}
	denied := c.denied.Load()
	if denied == nil || denied.at.Before(start) || !isUnanswered(err) && !isStreamGone(err) {
		return nil
	}
	return fmt.Errorf("%w: %w", denied.err, err)
}

// isStreamGone reports whether err says that a stream does not exist, or that its subject
// has no subscriber.
func isStreamGone(err error) bool {
	return errors.Is(err, jetstream.ErrStreamNotFound) || errors.Is(err, jetstream.ErrNoStreamResponse) || errors.Is(err, nats.ErrNoResponders)
}

// isUnanswered reports whether err says that there was no answer, or that a retry may get
// another one.
func isUnanswered(err error) bool {
	var api *jetstream.APIError
	if errors.As(err, &api) {
		return !isFull(err) && (api.Code == 503 || api.Code == 429) && api.ErrorCode != jetstream.JSErrCodeJetStreamNotEnabled && api.ErrorCode != jetstream.JSErrCodeJetStreamNotEnabledForAccount
	}
	return slices.ContainsFunc([]error{
		context.DeadlineExceeded, nats.ErrTimeout, nats.ErrNoResponders, nats.ErrDisconnected,
		nats.ErrConnectionReconnecting, nats.ErrReconnectBufExceeded, jetstream.ErrNoStreamResponse,
	}, func(e error) bool { return errors.Is(err, e) })
}

// errStoreFailed is the server's code for a message that could not be written, and for some
// limits of a stream.
const errStoreFailed jetstream.ErrorCode = 10077

// fullCodes are the server's codes for no room: in its memory, on its disk, on the servers
// that it could choose, or in the limits of the account.
var fullCodes = []jetstream.ErrorCode{
	10002, 10023, jetstream.JSErrCodeMaximumConsumersLimit, 10027, 10028, 10047,
}

// isFull reports whether err says that the server has no room.
func isFull(err error) bool {
	api, ok := errors.AsType[*jetstream.APIError](err)
	switch {
	case !ok:
		return false
	case api.ErrorCode == errStoreFailed: // not a limit, nor the stop of a server
		return !strings.Contains(api.Description, "maximum") && !strings.Contains(api.Description, "closed")
	case strings.Contains(api.Description, "creating store"), strings.Contains(api.Description, "no space left"):
		return true // for the files of a stream or a consumer
	}
	return slices.Contains(fullCodes, api.ErrorCode)
}

// A refusal is why the server did not store a message.
type refusal int

const (
	unsure     refusal = iota // perhaps it did: publish again
	taken                     // the subject has a message
	queueFull                 // the stream has reached its limit: there is room when a message leaves
	serverFull                // the server has no room
	tooLarge                  // for good
)

// refusalOf returns what the error of a publication means.
func refusalOf(err error) refusal {
	var api *jetstream.APIError
	switch {
	case errors.Is(err, nats.ErrMaxPayload), errors.Is(err, jetstream.ErrStreamMessageExceedsMaximum):
		return tooLarge
	case !errors.As(err, &api):
		return unsure
	case strings.Contains(api.Description, "per subject"):
		return taken
	case strings.Contains(api.Description, "maximum messages"), strings.Contains(api.Description, "maximum bytes"):
		return queueFull
	case isFull(err):
		return serverFull
	}
	return unsure
}
