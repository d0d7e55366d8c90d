package cluster

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stint-go/stint/lab/bench"
	"golang.org/x/sync/errgroup"
)

// pending bounds the submitted tasks without a result, as in cluster.Map.
const pending = 1024

// A loop is written by hand, with the same steps per task as cluster.Map and cluster.Serve: a result exists once, and a
// task is removed after that.
type loop struct {
	js   jetstream.JetStream
	task func(context.Context, int) (int, error)
	runs int
}

// openLoop connects a loop to a server and makes the streams.
func openLoop(ctx context.Context, url string, sleep time.Duration) system {
	nc := bench.Must(nats.Connect(url))
	l := &loop{js: bench.Must(jetstream.New(nc, jetstream.WithPublishAsyncMaxPending(pending))), task: double(sleep)}
	for _, c := range []jetstream.StreamConfig{
		{Name: "tasks", Subjects: []string{"task.>"}, Retention: jetstream.WorkQueuePolicy, MaxMsgs: 65_536},
		{Name: "results", Subjects: []string{"result.>"}, MaxMsgsPerSubject: 1, DiscardNewPerSubject: true},
	} {
		c.Storage, c.Discard = jetstream.MemoryStorage, jetstream.DiscardNew
		bench.Must(l.js.CreateOrUpdateStream(ctx, c))
	}
	return system{l.run, l.work, nc.Close}
}

// run submits items and returns the results in order. A lost message ends it after a minute.
func (l *loop) run(ctx context.Context, items []int, _ func(int)) ([]int, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	l.runs++
	name, out, room := strconv.Itoa(l.runs), make([]int, len(items)), make(chan struct{}, pending)
	config := jetstream.OrderedConsumerConfig{FilterSubjects: []string{"result." + name + ".*"}}
	consumer := bench.Must(l.js.OrderedConsumer(ctx, "results", config))
	results := bench.Must(consumer.Messages())
	defer results.Stop()
	go func() {
		for i, v := range items {
			room <- struct{}{}
			data, _ := json.Marshal(v)
			_, _ = l.js.PublishAsync("task."+name+"."+strconv.Itoa(i), data)
		}
	}()
	for range out {
		m := bench.Must(results.Next(jetstream.NextContext(ctx)))
		i, _ := strconv.Atoi(m.Subject()[strings.LastIndexByte(m.Subject(), '.')+1:])
		_ = json.Unmarshal(m.Data(), &out[i]) // a wrong result will be seen
		<-room
	}
	return out, nil
}

// work runs a worker until ctx ends.
func (l *loop) work(ctx context.Context, slots int) error {
	config := jetstream.ConsumerConfig{Durable: "workers", AckPolicy: jetstream.AckExplicitPolicy, MaxAckPending: -1, AckWait: lease}
	consumer := bench.Must(l.js.CreateOrUpdateConsumer(ctx, "tasks", config))
	tasks := bench.Must(consumer.Messages(jetstream.PullMaxMessages(slots)))
	defer context.AfterFunc(ctx, tasks.Stop)()
	var g errgroup.Group
	for range slots {
		g.Go(func() error {
			m, err := tasks.Next()
			for ; err == nil; m, err = tasks.Next() {
				if err = l.do(m); err != nil {
					return err
				}
			}
			return err // that tasks was stopped
		})
	}
	return g.Wait()
}

// do runs one task.
func (l *loop) do(m jetstream.Msg) error {
	ctx, v := context.Background(), 0
	_ = json.Unmarshal(m.Data(), &v)
	v, _ = l.task(ctx, v) // it never fails
	data, _ := json.Marshal(v)
	if _, err := l.js.Publish(ctx, "result"+strings.TrimPrefix(m.Subject(), "task"), data); err != nil {
		return err
	}
	return m.DoubleAck(ctx)
}
