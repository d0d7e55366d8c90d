package cluster

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// hear receives the results of a run until it ends.
//
// They come through a consumer that one server has in its memory, and that sends each once. When it
// is lost, or what it has sent may be, another one goes on from the last result. It has another
// name, so that it can be on another server: what is asked of a dead one is not answered. The
// client's ordered consumer repeats the same name, and holds a lock meanwhile that its end
// waits for.
func (r *run) hear(ctx context.Context) error {
	for n := 0; ctx.Err() == nil; n++ {
		before, began := r.heard.Load(), time.Now()
		err := r.hearOnce(ctx)
		if r.heard.Load() != before {
			n = 0
		}
		if ctx.Err() != nil {
			break
		}
		if isFull(err) {
			r.noRoom("a consumer of its results", err)
		}
		if streamless(err) {
			r.e.restore(ctx)
		}
		if n == patience {
			r.warn("its results do not come", err)
		}
		if denied := r.e.forbidden(began, err); denied != nil && n >= insisted {
			return fmt.Errorf("cluster: the results of %s: %w", runOf(r.rec.Key), denied)
		}
		select {
		case <-time.After(min(backoff(10*time.Millisecond, n), time.Second)):
		case <-ctx.Done():
		}
	}
	return nil
}

// hearOnce receives results until the run ends or the consumer is lost.
func (r *run) hearOnce(ctx context.Context) error {
	once, stop := context.WithTimeout(ctx, answerIn)
	defer stop()
	if err := r.follow(once); err != nil {
		return err
	}
	l := r.listen()
	if l == nil {
		return nil
	}
	defer close(l.over)
	select {
	case <-l.made:
	case <-once.Done():
		return once.Err()
	}
	if l.err != nil {
		return l.err
	}
	return r.consumeFrom(ctx, l.consumer)
}

// requestBytes returns how many bytes of messages a request is for: 4 MiB, or one message if
// that may be larger. What the server has sent and the client has not read is then a lot less
// than where a server gives up a client, which is at 64 MB, and other answers do not come long
// after.
func (e *Engine) requestBytes() int {
	const around = 4096 // subjects, and what the server adds
	return max(4<<20, int(e.nc.MaxPayload())+around)
}

// requested bounds the requests for results. The number of messages is what the client asks
// for by itself.
func (e *Engine) requested() jetstream.PullConsumeOpt {
	return jetstream.PullMaxMessagesWithBytesLimit(jetstream.DefaultMaxMessages, e.requestBytes())
}

// consumeFrom receives what a consumer has, until the run ends, or the consumer or what it
// has sent may be lost. What was on its way when a connection ended is; that is not seen
// by the numbers of the messages, as it may have been the last ones.
func (r *run) consumeFrom(ctx context.Context, c jetstream.Consumer) error {
	reconnected := r.e.nc.StatusChanged(nats.CONNECTED)
	defer r.e.nc.RemoveStatusListener(reconnected)
	lost, came := make(chan error, 1), uint64(0)
	results, err := c.Consume(
		func(m jetstream.Msg) {
			meta, err := m.Metadata()
			if err == nil && meta.Sequence.Consumer != came+1 {
				err = errors.New("a result was lost on its way")
			}
			if err != nil {
				post(lost, err)
				return
			}
			came++
			r.heardAt.Store(meta.Timestamp.UnixNano())
			r.receive(m, meta.Sequence.Stream)
		},
		r.e.requested(), jetstream.PullExpiry(5*answerIn), jetstream.PullHeartbeat(answerIn/2),
		jetstream.ConsumeErrHandler(func(_ jetstream.ConsumeContext, err error) { post(lost, err) }),
	)
	if err != nil {
		return err
	}
	select {
	case err = <-lost:
	case <-reconnected:
	case <-r.again:
	case <-ctx.Done():
	}
	results.Stop()
	select {
	case <-results.Closed(): // receive is not called any more
	case <-time.After(answerIn):
	}
	return err
}

// follow begins with the first result again, if the stream is not the one that the last
// result came from: a server that keeps it in memory was started again.
func (r *run) follow(ctx context.Context) error {
	if r.heard.Load() == 0 {
		return nil
	}
	info, err := r.e.stream["results"].Info(ctx)
	if err == nil && (info.Created.UnixNano() > r.heardAt.Load() || info.State.LastSeq < r.heard.Load()) {
		r.unswept.Store(0) // what was to be removed is gone
		r.heard.Store(0)
	}
	return err
}

// What has arrived is removed from the stream when it is that much.
const (
	sweepAfter = 1024    // results
	sweepBytes = 4 << 20 // of results
)

// receive takes a result, which has that sequence in the stream.
func (r *run) receive(m jetstream.Msg, seq uint64) {
	subject := m.Subject()
	i, err := strconv.Atoi(subject[strings.LastIndexByte(subject, '.')+1:])
	if err != nil {
		return // not ours
	}
	if isOwn(m.Headers()) {
		r.arrive(i, r.k.outcome(m.Headers(), m.Data()))
	} else {
		r.warn("a message that is no result is not taken", errors.New(subject)) // who has the result removes it
	}
	r.heard.Store(seq)
	if r.rec.Named {
		return
	}
	if n, b := r.unswept.Add(1), r.bytes.Add(int64(len(m.Data()))); n >= sweepAfter || b >= sweepBytes {
		post(r.sweep, struct{}{})
	}
}
