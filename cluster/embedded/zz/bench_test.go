package zz

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stint-go/stint"
	"github.com/stint-go/stint/cluster"
)

// hand is the hand-written loop: publish async with a window, pull, result, double ack.
func hand(t testing.TB, n, slots int) time.Duration {
	s, err := server.NewServer(&server.Options{JetStream: true, StoreDir: t.TempDir(), DontListen: true, NoSigs: true, NoLog: true})
	if err != nil {
		t.Fatal(err)
	}
	go s.Start()
	if !s.ReadyForConnections(10 * time.Second) {
		t.Fatal("not ready")
	}
	defer s.Shutdown()
	nc, err := nats.Connect("", nats.InProcessServer(s))
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	js, _ := jetstream.New(nc, jetstream.WithPublishAsyncMaxPending(256))
	ctx := t.Context()
	_, err = js.CreateStream(ctx, jetstream.StreamConfig{Name: "tasks", Subjects: []string{"task.>"}, Retention: jetstream.WorkQueuePolicy, MaxMsgs: 65536, Discard: jetstream.DiscardNew, Storage: jetstream.MemoryStorage})
	if err != nil {
		t.Fatal(err)
	}
	rs, err := js.CreateStream(ctx, jetstream.StreamConfig{Name: "results", Subjects: []string{"result.>"}, MaxMsgsPerSubject: 1, Discard: jetstream.DiscardNew, DiscardNewPerSubject: true, Storage: jetstream.MemoryStorage})
	if err != nil {
		t.Fatal(err)
	}
	c, err := js.CreateConsumer(ctx, "tasks", jetstream.ConsumerConfig{Durable: "w", AckPolicy: jetstream.AckExplicitPolicy, MaxAckPending: -1})
	if err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	window := make(chan struct{}, 1024)
	var wg sync.WaitGroup
	wg.Go(func() {
		for i := range n {
			window <- struct{}{}
			data, _ := json.Marshal(i)
			if _, err := js.PublishAsync("task.run."+strconv.Itoa(i), data); err != nil {
				t.Error(err)
			}
		}
		<-js.PublishAsyncComplete()
	})
	free := make(chan struct{}, slots)
	for range slots {
		free <- struct{}{}
	}
	wctx, stop := context.WithCancel(ctx)
	var workers sync.WaitGroup
	workers.Go(func() {
		for wctx.Err() == nil {
			k := 0
			select {
			case <-free:
				k = 1
			case <-wctx.Done():
				return
			}
			for k < slots {
				select {
				case <-free:
					k++
					continue
				default:
				}
				break
			}
			batch, err := c.Fetch(k, jetstream.FetchMaxWait(time.Second))
			if err != nil {
				t.Error(err)
				return
			}
			got := 0
			for m := range batch.Messages() {
				got++
				workers.Go(func() {
					var v int
					json.Unmarshal(m.Data(), &v)
					out, _ := json.Marshal(2 * v)
					if _, err := js.Publish(ctx, "result.run."+strconv.Itoa(v), out); err != nil {
						t.Error(err)
					}
					if err := m.DoubleAck(ctx); err != nil {
						t.Error(err)
					}
					free <- struct{}{}
				})
			}
			for range k - got {
				free <- struct{}{}
			}
		}
	})
	oc, err := rs.OrderedConsumer(ctx, jetstream.OrderedConsumerConfig{FilterSubjects: []string{"result.run.*"}})
	if err != nil {
		t.Fatal(err)
	}
	msgs, err := oc.Messages()
	if err != nil {
		t.Fatal(err)
	}
	out := make([]int, n)
	for range n {
		m, err := msgs.Next()
		if err != nil {
			t.Fatal(err)
		}
		i, _ := strconv.Atoi(m.Subject()[strings.LastIndexByte(m.Subject(), '.')+1:])
		json.Unmarshal(m.Data(), &out[i])
		<-window
	}
	msgs.Stop()
	wg.Wait()
	took := time.Since(begin)
	stop()
	workers.Wait()
	return took
}

func ours(t testing.TB, n, slots int) time.Duration {
	e := open(t)
	defer e.Close()
	double := cluster.NewTask("double/v1", func(_ context.Context, n int) (int, error) { return 2 * n, nil })
	e.Handle(double)
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- cluster.Serve(ctx, e, stint.Limit(slots)) }()
	items := make([]int, n)
	for i := range items {
		items[i] = i
	}
	begin := time.Now()
	if _, err := cluster.Map(t.Context(), e, double, items); err != nil {
		t.Fatal(err)
	}
	took := time.Since(begin)
	stop()
	<-done
	return took
}

func TestCompare(t *testing.T) {
	for _, slots := range []int{16, 64} {
		const n = 20000
		var h, o []float64
		for range 5 {
			h = append(h, hand(t, n, slots).Seconds())
			o = append(o, ours(t, n, slots).Seconds())
		}
		slices.Sort(h)
		slices.Sort(o)
		fmt.Printf("slots %d: hand %.0f/s ours %.0f/s ratio of rates %.2f\n", slots, n/h[2], n/o[2], h[2]/o[2])
	}
}

func BenchmarkOurs(b *testing.B) { ours(b, b.N, 64) }
func BenchmarkHand(b *testing.B) { hand(b, b.N, 64) }
