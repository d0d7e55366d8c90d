package cluster

import (
	"context"
	"errors"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nuid"
)

// A listener is a consumer of the results of a run, from before the server is asked for it
// until it is removed.
//
// The server does several requests at once, and may end them in another order than they
// were sent in: asked for a consumer and then to remove it, it may remove it first, and
// then make it. So who asked for one may stop waiting, but it is removed only when the
// server has answered that it is there.
type listener struct {
	name     string
	consumer jetstream.Consumer
	err      error
	made     chan struct{} // closed when consumer or err is there
	over     chan struct{} // closed when the consumer is not needed, or not waited for
}

// inactive is after how long the server removes a consumer of results by itself: one that
// it was not asked to remove, or could not be.
const inactive = time.Minute

// atLast is how long an answer is waited for on the side, where nobody asks again: a busy
// server may take longer than answerIn.
const atLast = 5 * answerIn

// listen asks the server for a consumer of what comes after the last result. It returns
// nil if the run is removed from the engine. The caller closes over.
func (r *run) listen() *listener {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.deaf {
		return nil
	}
	l := &listener{name: nuid.Next(), made: make(chan struct{}), over: make(chan struct{})}
	r.listeners.Go(func() { r.keep(l) })
	return l
}

// keep makes the consumer, and removes it when it is not needed.
func (r *run) keep(l *listener) {
	ctx, stop := context.WithTimeout(r.ears, atLast)
	defer stop()
	l.consumer, l.err = r.e.stream["results"].CreateConsumer(ctx, jetstream.ConsumerConfig{
		Name:              l.name,
		FilterSubject:     r.e.names.subject("result", r.rec.Key, "*"),
		DeliverPolicy:     jetstream.DeliverByStartSequencePolicy,
		OptStartSeq:       r.heard.Load() + 1,
		AckPolicy:         jetstream.AckNonePolicy,
		MemoryStorage:     true,
		Replicas:          1,
		InactiveThreshold: inactive,
	})
	close(l.made)
	<-l.over
	if _, refused := errors.AsType[*jetstream.APIError](l.err); refused || errors.Is(l.err, nats.ErrNoResponders) {
		return
	}
	r.unmake(l.name) // also if there was no answer: perhaps it was made
}

// unmake removes a consumer. It asks until the server has answered, for some time. If nobody
// waits for that any more it asks once.
func (r *run) unmake(name string) {
	remove := func(ctx context.Context) error { return r.e.stream["results"].DeleteConsumer(ctx, name) }
	var err error
	if r.ears.Err() == nil {
		ctx, stop := context.WithTimeout(r.ears, atLast)
		defer stop()
		err = r.e.ask(ctx, remove)
	} else {
		ctx, stop := context.WithTimeout(context.WithoutCancel(r.ears), answerIn)
		defer stop()
		err = remove(ctx)
	}
	if err != nil && unanswered(err) {
		r.warn("a consumer of its results may be there for a minute", err)
	}
}

// deafen waits until the consumers of the run are removed, for some time: what is not
// answered by then may have been asked of a server that is gone. It is called when the rest of
// the run is removed, so that one that was silent for a while answers again.
func (r *run) deafen() {
	r.mu.Lock()
	r.deaf = true
	r.mu.Unlock()
	most := atLast
	if !r.e.nc.IsConnected() {
		most = 0
	}
	defer time.AfterFunc(most, r.cover).Stop()
	r.listeners.Wait()
}
