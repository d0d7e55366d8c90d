package cluster

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"golang.org/x/sync/errgroup"
)

// maxPending bounds the submitted tasks without a result, as in cluster.Map.
const maxPending = 1024

// A loop is written by hand, with the same steps per task as cluster.Map and cluster.Serve.
type loop struct {
	nc   *nats.Conn
	js   jetstream.JetStream
	task task
	runs int
}

// openLoop connects a loop to a server and creates the streams if they do not exist.
func openLoop(ctx context.Context, url string, f task) (system, error) {
	nc, err := nats.Connect(url)
	if err != nil {
		return system{}, err
	}
	h := &loop{nc: nc, task: f}
	h.js, err = jetstream.New(nc)
	for _, c := range []jetstream.StreamConfig{
		{Name: "tasks", Subjects: []string{"task.>"}, Retention: jetstream.WorkQueuePolicy, MaxMsgs: 65_536},
		{Name: "results", Subjects: []string{"result.>"}, MaxMsgsPerSubject: 1, DiscardNewPerSubject: true},
	} {
		if err == nil {
			c.Storage, c.Discard = jetstream.MemoryStorage, jetstream.DiscardNew
			_, err = h.js.CreateOrUpdateStream(ctx, c)
		}
	}
	if err != nil {
		nc.Close()
	}
	return system{h.run, h.work, nc.Close}, err
}

// run submits items and returns the results in order.
func (h *loop) run(ctx context.Context, items []int) ([]int, error) {
	h.runs++
	name := strconv.Itoa(h.runs)
	consumer, err := h.js.OrderedConsumer(ctx, "results", jetstream.OrderedConsumerConfig{FilterSubjects: []string{"result." + name + ".*"}})
	if err != nil {
		return nil, err
	}
	results, err := consumer.Messages()
	if err != nil {
		return nil, err
	}
	defer results.Stop()
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	room, out := make(chan struct{}, maxPending), make([]int, len(items))
	go h.publish(ctx, name, items, room, fail)
	for range out {
		m, err := results.Next(jetstream.NextContext(ctx))
		if err == nil {
			i, _ := strconv.Atoi(m.Subject()[strings.LastIndexByte(m.Subject(), '.')+1:]) // the subject is our own
			err = json.Unmarshal(m.Data(), &out[i])
		}
		if err != nil {
			return nil, cmp.Or(context.Cause(ctx), err)
		}
		<-room
	}
	return out, nil
}

// publish submits items while there is room, until ctx ends.
func (h *loop) publish(ctx context.Context, name string, items []int, room chan<- struct{}, fail context.CancelCauseFunc) {
	js, err := jetstream.New(h.nc, jetstream.WithPublishAsyncMaxPending(maxPending),
		jetstream.WithPublishAsyncErrHandler(func(_ jetstream.JetStream, m *nats.Msg, err error) { fail(fmt.Errorf("%s: %w", m.Subject, err)) }))
	for i, v := range items {
		select {
		case room <- struct{}{}:
		case <-ctx.Done():
			return
		}
		data, _ := json.Marshal(v) // an int cannot fail
		if err == nil {
			_, err = js.PublishAsync("task."+name+"."+strconv.Itoa(i), data)
		}
		if err != nil {
			fail(err)
		}
	}
}

// work runs a worker until ctx ends.
func (h *loop) work(ctx context.Context, slots int) error {
	config := jetstream.ConsumerConfig{Durable: "workers", AckPolicy: jetstream.AckExplicitPolicy, MaxAckPending: -1}
	consumer, err := h.js.CreateOrUpdateConsumer(ctx, "tasks", config)
	if err != nil {
		return err
	}
	tasks, err := consumer.Messages(jetstream.PullMaxMessages(slots))
	if err != nil {
		return err
	}
	defer context.AfterFunc(ctx, tasks.Stop)()
	var g errgroup.Group
	for range slots {
		g.Go(func() error {
			defer tasks.Stop() // after an error also for the others
			for {
				m, err := tasks.Next()
				if errors.Is(err, jetstream.ErrMsgIteratorClosed) {
					return nil
				}
				if err == nil {
					err = h.do(m)
				}
				if err != nil {
					return err
				}
			}
		})
	}
	return g.Wait()
}

// do runs one task. It finishes also if the worker is stopping.
func (h *loop) do(m jetstream.Msg) error {
	ctx, v := context.Background(), 0
	err := json.Unmarshal(m.Data(), &v)
	if err == nil {
		v, err = h.task(ctx, v)
	}
	if err != nil {
		return err
	}
	data, _ := json.Marshal(v)
	if _, err := h.js.Publish(ctx, "result"+strings.TrimPrefix(m.Subject(), "task"), data); err != nil {
		return err
	}
	return m.DoubleAck(ctx)
}
