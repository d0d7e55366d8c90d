package remote

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

// ahead is how many tasks the loop submits before the results of the first are there:
// as many as cluster.Map.
const ahead = 1024

// A hand is the loop that is written by hand, with the steps for a task that
// cluster.Map and cluster.Serve have too.
type hand struct {
	js      jetstream.JetStream
	tasks   jetstream.Consumer
	results jetstream.Stream
	lost    chan error // has the first task that the server did not take
}

// newHand makes the streams, unless they are there.
func newHand(ctx context.Context, nc *nats.Conn) (*hand, error) {
	h := &hand{lost: make(chan error, 1)}
	var err error
	h.js, err = jetstream.New(nc, jetstream.WithPublishAsyncMaxPending(ahead), jetstream.WithPublishAsyncErrHandler(h.lose))
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

// lose keeps the first failure.
func (h *hand) lose(_ jetstream.JetStream, m *nats.Msg, err error) {
	select {
	case h.lost <- fmt.Errorf("%s: %w", m.Subject, err):
	default:
	}
}

// run submits items, and returns the results in their order.
func (h *hand) run(ctx context.Context, name string, items []int) ([]int, error) {
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
	room := make(chan struct{}, ahead)
	submitting, end := context.WithCancel(ctx)
	g.Go(func() error { return h.publish(submitting, name, items, room) })
	g.Go(func() error {
		defer end()
		return collect(ctx, results, out, room)
	})
	return out, g.Wait()
}

// collect puts a result into each place of out.
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

// publish submits items while there is room, and ends with ctx.
func (h *hand) publish(ctx context.Context, name string, items []int, room chan<- struct{}) error {
	for i, v := range items {
		select {
		case room <- struct{}{}:
		case err := <-h.lost:
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
	case err := <-h.lost:
		return err
	case <-ctx.Done():
		return nil
	}
}

// index is the last part of a subject.
func index(subject string) int {
	i, err := strconv.Atoi(subject[strings.LastIndexByte(subject, '.')+1:])
	if err != nil {
		panic(err) // we have written it
	}
	return i
}

// work is a worker with so many slots, until ctx ends.
func (h *hand) work(ctx context.Context, slots int, f func(context.Context, int) (int, error)) error {
	g, ctx := errgroup.WithContext(ctx)
	came := make(chan jetstream.Msg, slots)
	free := make(chan struct{}, slots)
	for range slots {
		free <- struct{}{}
		g.Go(func() error {
			for m := range came {
				if err := h.do(m, f); err != nil {
					return err
				}
				free <- struct{}{}
			}
			return nil
		})
	}
	err := h.fetch(ctx, free, came)
	close(came)
	return cmp.Or(g.Wait(), err)
}

// fetch takes as many tasks as slots are free, again and again until ctx ends. There is
// room for all of them in came.
func (h *hand) fetch(ctx context.Context, free chan struct{}, came chan<- jetstream.Msg) error {
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
			came <- m
		}
		for range k {
			free <- struct{}{}
		}
		if err := batch.Error(); err != nil && ctx.Err() == nil {
			return err
		}
	}
}

// take waits for a slot, and takes all that are free.
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

// do runs one task. What it has begun is done when the worker is to end, too.
func (h *hand) do(m jetstream.Msg, f func(context.Context, int) (int, error)) error {
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
