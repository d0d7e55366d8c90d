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

// ask does what a request asks for, again while the server does not answer or cannot
// answer now, until ctx ends or the engine is closed. Servers that elect a leader drop
// requests: to ask again soon is of more use than to wait long. So f has to be such that it may be
// done twice. A server that is full is waited for, and Log says so; then the error is ErrFull.
func (e *Engine) ask(ctx context.Context, f func(context.Context) error) error {
	return e.askFor(ctx, e.fullFor(), f)
}

// askFor is ask with how long a server that is full is waited for.
func (e *Engine) askFor(ctx context.Context, most time.Duration, f func(context.Context) error) error {
	var full time.Time
	for n := 0; ; n++ {
		began := time.Now()
		once, stop := context.WithTimeout(ctx, answerIn)
		err := f(once)
		stop()
		gone := streamless(err) && e.restore(ctx)
		if denied := e.forbidden(began, err); denied != nil && !gone {
			return denied
		}
		switch {
		case isFull(err):
			err = fmt.Errorf("%w: %w", ErrFull, err)
			if most == 0 || !full.IsZero() && time.Since(full) >= most {
				return err
			}
			if full.IsZero() {
				full = time.Now()
				e.conf.Log.Warn("cluster: a request waits for room", "error", err)
			}
		case err == nil || !gone && !unanswered(err):
			return err
		}
		if ctx.Err() != nil || e.life.Err() != nil {
			return err
		}
		select {
		case <-time.After(min(backoff(20*time.Millisecond, n), time.Second)):
		case <-ctx.Done():
			return err
		case <-e.life.Done():
			return err
		}
	}
}

// forbidden returns what the server has not permitted since then, if err may come of that: it
// has no answer. Otherwise it is nil.
func (e *Engine) forbidden(since time.Time, err error) error {
	denied := e.denied.Load()
	if denied == nil || denied.at.Before(since) || !unanswered(err) && !streamless(err) {
		return nil
	}
	return fmt.Errorf("%w: %w", denied.err, err)
}

// streamless reports whether err says that a stream is not there, or may not be: nobody
// listens to what is sent to it.
func streamless(err error) bool {
	return errors.Is(err, jetstream.ErrStreamNotFound) || errors.Is(err, jetstream.ErrNoStreamResponse) || errors.Is(err, nats.ErrNoResponders)
}

// restore creates the streams that are gone. It returns true if they are there, or somebody
// else is about to create them. What was in them is not: who waits for that finds out.
func (e *Engine) restore(ctx context.Context) bool {
	if !e.restoring.CompareAndSwap(false, true) {
		return true
	}
	defer e.restoring.Store(false)
	ctx, stop := context.WithTimeout(ctx, answerIn)
	defer stop()
	return e.createStreams(ctx, false) == nil
}

// fullFor is how long a server that is full is waited for. It is less than the record of a
// run may be late.
func (e *Engine) fullFor() time.Duration { return or(e.conf.FullFor, 30*time.Second) }

// answerIn is how long one answer is waited for.
const answerIn = 2 * time.Second

// through does what a request asks for that changes something which others change too. Its answer
// is waited for also when ctx ends: given up, it may be carried out after what is asked for
// next.
func through(ctx context.Context, f func(context.Context) error) error {
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), answerIn)
	defer stop()
	return f(ctx)
}

// unanswered reports whether err says that there was no answer, or that there may be
// another one soon.
func unanswered(err error) bool {
	var api *jetstream.APIError
	if errors.As(err, &api) {
		return !isFull(err) && (api.Code == 503 || api.Code == 429) && api.ErrorCode != jetstream.JSErrCodeJetStreamNotEnabled && api.ErrorCode != jetstream.JSErrCodeJetStreamNotEnabledForAccount
	}
	for _, e := range []error{
		context.DeadlineExceeded, nats.ErrTimeout, nats.ErrNoResponders, nats.ErrDisconnected,
		nats.ErrConnectionReconnecting, nats.ErrReconnectBufExceeded, jetstream.ErrNoStreamResponse,
	} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// What a server says that has no room, by its numbers: in the memory or on the disk of its own
// or of a server that it could choose, or in the limits of the account.
const (
	fullAccount   jetstream.ErrorCode = 10002
	fullServer    jetstream.ErrorCode = 10023
	fullConsumers                     = jetstream.JSErrCodeMaximumConsumersLimit
	fullStreams   jetstream.ErrorCode = 10027
	fullMemory    jetstream.ErrorCode = 10028
	fullStorage   jetstream.ErrorCode = 10047
	fullStore     jetstream.ErrorCode = 10077 // a message cannot be written, or one of the limits that refused knows is reached
)

// isFull reports whether err is one of these.
func isFull(err error) bool {
	api, ok := errors.AsType[*jetstream.APIError](err)
	switch {
	case !ok:
		return false
	case api.ErrorCode == fullStore:
		return !strings.Contains(api.Description, "maximum") && !strings.Contains(api.Description, "closed") // as it is while a server stops
	case strings.Contains(api.Description, "creating store"), strings.Contains(api.Description, "no space left"):
		return true // the file of a stream or a consumer cannot be made
	}
	return slices.Contains([]jetstream.ErrorCode{fullAccount, fullServer, fullConsumers, fullStreams, fullMemory, fullStorage}, api.ErrorCode)
}

// A refusal is why the server did not take a message.
type refusal int

const (
	unsure refusal = iota // perhaps it did: ask again
	taken                 // there is one on that subject
	queued                // the stream has as many as it may have: there is room when some are taken
	full                  // the server has no room
	never                 // it will not take it later either
)

// refused returns what the error of a publication means.
func refused(err error) refusal {
	var api *jetstream.APIError
	switch {
	case errors.Is(err, nats.ErrMaxPayload), errors.Is(err, jetstream.ErrStreamMessageExceedsMaximum):
		return never
	case !errors.As(err, &api):
		return unsure
	case strings.Contains(api.Description, "per subject"):
		return taken
	case strings.Contains(api.Description, "maximum messages"), strings.Contains(api.Description, "maximum bytes"):
		return queued
	case isFull(err):
		return full
	}
	return unsure
}
