package cluster

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"golang.org/x/sync/errgroup"
)

// maxPending bounds the submitted tasks without a result, as in cluster.Map.
const maxPending = 1024

// A baseline is the same loop written by hand, with the same steps per task as
// cluster.Map and cluster.Serve.
type baseline struct {
	js         jetstream.JetStream
	tasks      jetstream.Consumer
	results    jetstream.Stream
	publishErr chan error // holds the first publish error
}

// newBaseline creates the streams if they do not exist.
func newBaseline(ctx context.Context, nc *nats.Conn) (*baseline, error) {
	h := &baseline{publishErr: make(chan error, 1)}
	var err error
	h.js, err = jetstream.New(nc, jetstream.WithPublishAsyncMaxPending(maxPending), jetstream.WithPublishAsyncErrHandler(h.keepErr))
	if err != nil {
		return nil, err
	}
	_, err = h.js.CreateOrUpdateStream(ctx, jetstream.StreamConfig{
		Name: "tasks", Subjects: []string{"task.>"}, Storage: jetstream.MemoryStorage,
		Retention: jetstream.WorkQueuePolicy, MaxMsgs: 65_536, Discard: jetstream.DiscardNew,
	})
	if err != nil {
		return nil, err
	}
	h.results, err = h.js.CreateOrUpdateStream(ctx, jetstream.StreamConfig{
		Name: "results", Subjects: []string{"result.>"}, Storage: jetstream.MemoryStorage,
		MaxMsgsPerSubject: 1, Discard: jetstream.DiscardNew, DiscardNewPerSubject: true,
	})
	if err != nil {
		return nil, err
	}
	h.tasks, err = h.js.CreateOrUpdateConsumer(ctx, "tasks", jetstream.ConsumerConfig{
		Durable: "workers", AckPolicy: jetstream.AckExplicitPolicy, MaxAckPending: -1,
	})
	return h, err
}

// keepErr keeps the first error.
func (h *baseline) keepErr(_ jetstream.JetStream, m *nats.Msg, err error) {
	select {
	case h.publishErr <- fmt.Errorf("%s: %w", m.Subject, err):
	default:
	}
}

// run submits items and returns the results in order.
func (h *baseline) run(ctx context.Context, name string, items []int) ([]int, error) {
	g, ctx := errgroup.WithContext(ctx)
	consumer, err := h.results.OrderedConsumer(ctx, jetstream.OrderedConsumerConfig{FilterSubjects: []string{"result." + name + ".*"}})
	if err != nil {
		return nil, err
	}
	results, err := consumer.Messages()
	if err != nil {
		return nil, err
	}
	defer context.AfterFunc(ctx, results.Stop)()
	defer results.Stop()
	out := make([]int, len(items))
	room := make(chan struct{}, maxPending)
	submitting, end := context.WithCancel(ctx)
	g.Go(func() error { return h.publish(submitting, name, items, room) })
	g.Go(func() error {
		defer end()
		return collect(ctx, results, out, room)
	})
	return out, g.Wait()
}

// collect stores each result at its index in out.
func collect(ctx context.Context, results jetstream.MessagesContext, out []int, room <-chan struct{}) error {
	for range out {
		m, err := results.Next()
		if err == nil {
			err = json.Unmarshal(m.Data(), &out[index(m.Subject())])
		}
		if err != nil {
			return cmp.Or(context.Cause(ctx), err)
		}
		<-room
	}
	return nil
}

// publish submits items while there is room, until ctx ends.
func (h *baseline) publish(ctx context.Context, name string, items []int, room chan<- struct{}) error {
	for i, v := range items {
		select {
		case room <- struct{}{}:
		case err := <-h.publishErr:
			return err
		case <-ctx.Done():
			return nil
		}
		data, err := json.Marshal(v)
		if err == nil {
			_, err = h.js.PublishAsync("task."+name+"."+strconv.Itoa(i), data)
		}
		if err != nil {
			return err
		}
	}
	select {
	case err := <-h.publishErr:
		return err
	case <-ctx.Done():
		return nil
	}
}

// index returns the last part of a subject.
func index(subject string) int {
	i, err := strconv.Atoi(subject[strings.LastIndexByte(subject, '.')+1:])
	if err != nil {
		panic(err) // the subject is our own
	}
	return i
}

// work runs a worker with the given number of slots until ctx ends.
func (h *baseline) work(ctx context.Context, slots int, f func(context.Context, int) (int, error)) error {
	g, ctx := errgroup.WithContext(ctx)
	received := make(chan jetstream.Msg, slots)
	free := make(chan struct{}, slots)
	for range slots {
		free <- struct{}{}
		g.Go(func() error {
			for m := range received {
				if err := h.do(m, f); err != nil {
					return err
				}
				free <- struct{}{}
			}
			return nil
		})
	}
	err := h.fetch(ctx, free, received)
	close(received)
	return cmp.Or(g.Wait(), err)
}

// fetch requests as many tasks as there are free slots, until ctx ends.
// received has room for them.
func (h *baseline) fetch(ctx context.Context, free chan struct{}, received chan<- jetstream.Msg) error {
	for {
		k := take(ctx, free)
		if k == 0 {
			return nil
		}
		batch, err := h.tasks.Fetch(k, jetstream.FetchContext(ctx))
		if err != nil {
			return err
		}
		for m := range batch.Messages() {
			k--
			received <- m
		}
		for range k {
			free <- struct{}{}
		}
		if err := batch.Error(); err != nil && ctx.Err() == nil {
			return err
		}
	}
}

// take waits for a free slot and takes all free slots.
func take(ctx context.Context, free <-chan struct{}) int {
	select {
	case <-free:
	case <-ctx.Done():
		return 0
	}
	for k := 1; ; k++ {
		select {
		case <-free:
		default:
			return k
		}
	}
}

// do runs one task. It finishes also if the worker is stopping.
func (h *baseline) do(m jetstream.Msg, f func(context.Context, int) (int, error)) error {
	ctx := context.Background()
	var item int
	if err := json.Unmarshal(m.Data(), &item); err != nil {
		return err
	}
	v, err := f(ctx, item)
	if err != nil {
		return err
	}
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	if _, err := h.js.Publish(ctx, "result"+strings.TrimPrefix(m.Subject(), "task"), data); err != nil {
		return err
	}
	return m.DoubleAck(ctx)
}
