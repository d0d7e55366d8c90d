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

// The number and size of arrived results at which they are removed from the stream, or a fourth of it.
const (
	purgeCount = 1024
	purgeBytes = 4 << 20
)

// consume receives the results of a run until it ends.
//
// Results come through a consumer, which is in the memory of a server and sends each result
// once. When the consumer is lost, or a result may be lost, another consumer continues
// after the last result. It has another name, so that another server may have it: a dead
// server does not answer requests for its consumers. The ordered consumer of the NATS
// client reuses its name, and meanwhile holds a lock that its Stop waits for.
func (r *run) consume(ctx context.Context) error {
	defer r.stopReceiving()
	for n := 0; ctx.Err() == nil; n++ {
		before, start := r.lastSeq.Load(), time.Now()
		err := r.consumeOnce(ctx)
		if r.lastSeq.Load() != before {
			n = 0
		}
		if ctx.Err() != nil {
			break
		}
		if isFull(err) {
			r.noteFull("a consumer of its results", err)
		}
		if isStreamGone(err) {
			err = errors.Join(err, r.client.restore(ctx))
		}
		if n == retriesUntilWarning {
			r.warn("its results do not arrive", err)
		}
		if denied := r.client.deniedSince(start, err); denied != nil && n >= retriesUntilDenial {
			return fmt.Errorf("cluster: the results of %s: %w", runOf(r.rec.Key), denied)
		}
		sleep(ctx, min(backoff(10*time.Millisecond, n), time.Second))
	}
	return nil
}

// consumeOnce receives results through one consumer.
func (r *run) consumeOnce(ctx context.Context) error {
	once, stop := context.WithTimeout(ctx, requestTimeout)
	defer stop()
	if err := r.checkStream(once); err != nil {
		return err
	}
	c := r.newConsumer()
	if c == nil {
		return nil
	}
	defer close(c.unused)
	select {
	case <-c.made:
	case <-once.Done():
		return once.Err()
	}
	if c.err != nil {
		return c.err
	}
	return r.receiveFrom(ctx, c.Consumer)
}

// checkStream makes the run start with the first result again if the last one came from
// another stream: a server that keeps its streams in memory was restarted.
func (r *run) checkStream(ctx context.Context) error {
	if r.lastSeq.Load() == 0 {
		return nil
	}
	info, err := r.client.stream["results"].Info(ctx)
	if err == nil && (info.Created.UnixNano() > r.lastTime.Load() || info.State.LastSeq < r.lastSeq.Load()) {
		r.unpurged.Store(0)
		r.lastSeq.Store(0)
	}
	return err
}

// receiveFrom receives the results of a consumer until the run ends, or the consumer or a
// result may be lost. When a connection ends, results in transit are lost, perhaps the last
// ones, so that there is no gap in the sequence.
func (r *run) receiveFrom(ctx context.Context, c jetstream.Consumer) error {
	reconnected := r.client.nc.StatusChanged(nats.CONNECTED)
	defer r.client.nc.RemoveStatusListener(reconnected)
	lost, received := make(chan error, 1), uint64(0)
	batch := or(c.CachedInfo().Config.MaxRequestBatch, jetstream.DefaultMaxMessages)
	results, err := c.Consume(
		func(m jetstream.Msg) {
			meta, err := m.Metadata()
			if err == nil && meta.Sequence.Consumer != received+1 {
				err = errors.New("a result was lost on its way")
			}
			if err != nil {
				post(lost, err)
				return
			}
			received++
			r.lastTime.Store(meta.Timestamp.UnixNano())
			r.receive(m, meta.Sequence.Stream)
		},
		jetstream.PullMaxMessagesWithBytesLimit(min(batch, jetstream.DefaultMaxMessages), r.client.requestBytes()),
		jetstream.PullExpiry(5*requestTimeout), jetstream.PullHeartbeat(requestTimeout/2),
		jetstream.ConsumeErrHandler(func(_ jetstream.ConsumeContext, err error) { post(lost, err) }),
	)
	if err != nil {
		return err
	}
	select {
	case err = <-lost:
	case <-reconnected:
	case <-r.reconsume:
	case <-ctx.Done():
	}
	results.Stop()
	select {
	case <-results.Closed(): // receive is no longer called
	case <-time.After(requestTimeout):
	}
	return err
}

// stopReceiving waits for the message that is being taken, and lets no other be taken.
func (r *run) stopReceiving() {
	r.receiving.Lock()
	defer r.receiving.Unlock()
	r.received = true
}

// receive takes a result or a part, which has that sequence in the stream.
func (r *run) receive(m jetstream.Msg, seq uint64) {
	r.receiving.Lock()
	defer r.receiving.Unlock()
	if r.received {
		return
	}
	subject := m.Subject()
	if strings.HasPrefix(subject, r.client.partSubject(r.rec.Key, "")) {
		r.receivePart(m.Headers(), m.Data())
		r.lastSeq.Store(seq)
		r.unpurged.Add(1)
		post(r.purgeNow, struct{}{}) // the worker waits for room
		return
	}
	i, err := strconv.Atoi(subject[strings.LastIndexByte(subject, '.')+1:])
	if err != nil {
		return // not of a stint client
	}
	if isOwn(m.Headers()) {
		o := r.k.outcome(m.Headers(), m.Data())
		if !r.hasParts(i, o.parts) {
			o = outcome{err: fmt.Errorf("cluster: %s: the server has lost a part of the result", r.k.name)}
		}
		r.arrive(i, o)
	} else {
		r.warn("a message that is no result is ignored", errors.New(subject)) // the worker that has the result removes it
	}
	r.lastSeq.Store(seq)
	if r.rec.Named {
		return
	}
	most := int64(purgeBytes)
	if have := r.client.stream["results"].CachedInfo().Config.MaxBytes; have > 0 {
		most = min(most, have/4)
	}
	if n, b := r.unpurged.Add(1), r.bytes.Add(int64(len(m.Data()))); n >= purgeCount || b >= most {
		post(r.purgeNow, struct{}{})
	}
}
