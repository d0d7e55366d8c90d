package cluster

import (
	"context"
	"errors"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nuid"
)

// A consumer is a JetStream consumer of the results of a run, from before the server is asked
// to create it until it is deleted.
//
// The server handles requests concurrently, and may delete a consumer before it creates it.
// So the run may stop waiting for the creation, but the consumer is deleted only after the
// server has answered.
type consumer struct {
	jetstream.Consumer
	name   string
	err    error
	made   chan struct{} // closed when Consumer or err is set
	unused chan struct{} // closed when the run no longer needs it, or waits for it
}

// consumerExpiry is the idle time after which the server deletes a consumer that was not deleted.
const consumerExpiry = time.Minute

// newConsumer asks the server for a consumer of the results after the last. It returns nil
// if the run is being cleaned up. The caller closes unused.
func (r *run) newConsumer() *consumer {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.noConsumers {
		return nil
	}
	c := &consumer{name: nuid.Next(), made: make(chan struct{}), unused: make(chan struct{})}
	r.consumers.Go(func() { r.manage(c) })
	return c
}

// manage creates the consumer, and deletes it when it is unused.
func (r *run) manage(c *consumer) {
	ctx, stop := context.WithTimeout(r.consumersCtx, slowTimeout)
	defer stop()
	c.Consumer, c.err = r.client.stream["results"].CreateConsumer(ctx, jetstream.ConsumerConfig{
		Name:              c.name,
		FilterSubject:     r.client.names.resultsOf(r.rec.Key),
		DeliverPolicy:     jetstream.DeliverByStartSequencePolicy,
		OptStartSeq:       r.lastSeq.Load() + 1,
		AckPolicy:         jetstream.AckNonePolicy,
		MemoryStorage:     true,
		Replicas:          1,
		InactiveThreshold: consumerExpiry,
	})
	close(c.made)
	<-c.unused
	if _, refused := errors.AsType[*jetstream.APIError](c.err); refused || errors.Is(c.err, nats.ErrNoResponders) {
		return
	}
	r.deleteConsumer(c.name) // also without an answer: perhaps it was created
}

// deleteConsumer retries for some time, or asks once if the run no longer waits for it.
func (r *run) deleteConsumer(name string) {
	remove := func(ctx context.Context) error { return r.client.stream["results"].DeleteConsumer(ctx, name) }
	var err error
	if r.consumersCtx.Err() == nil {
		ctx, stop := context.WithTimeout(r.consumersCtx, slowTimeout)
		defer stop()
		err = r.client.request(ctx, remove)
	} else {
		ctx, stop := context.WithTimeout(context.WithoutCancel(r.consumersCtx), requestTimeout)
		defer stop()
		err = remove(ctx)
	}
	if err != nil && isUnanswered(err) {
		r.warn("a consumer of its results may remain for a minute", err)
	}
}

// closeConsumers waits until the consumers of the run are deleted, for at most slowTimeout:
// longer requests may have gone to a dead server. It is called after the other removals,
// because a server that was silent for a while answers again by then.
func (r *run) closeConsumers() {
	r.mu.Lock()
	r.noConsumers = true
	r.mu.Unlock()
	timeout := slowTimeout
	if !r.client.nc.IsConnected() {
		timeout = 0
	}
	defer time.AfterFunc(timeout, r.stopConsumers).Stop()
	r.consumers.Wait()
}
