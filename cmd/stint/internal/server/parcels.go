package server

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

const (
	parcelStream   = "stint-output"
	parcelSubject  = "stint.output."
	parcelBytes    = 256 << 20 // that the server keeps: then senders wait
	parcelAge      = time.Hour // of parcels whose receiver has died
	parcelLease    = 30 * time.Second
	parcelWait     = time.Second // for a parcel, before the receiver asks again
	parcelPause    = 100 * time.Millisecond
	tasksStream    = "stint-tasks" // whose storage that of parcels is
	parcelReceiver = 5 * time.Minute
)

// A Parcels sends and receives data that is too large for the result of a task. The server
// keeps parcels until they are received: in a stream of its own, of bounded size.
type Parcels struct {
	conn *nats.Conn
	js   jetstream.JetStream
}

// NewParcels connects to the server.
func (c *Connection) NewParcels() (*Parcels, error) {
	opts, err := c.options()
	if err != nil {
		return nil, err
	}
	conn, err := nats.Connect(c.URL, append(opts, nats.MaxReconnects(-1), nats.RetryOnFailedConnect(true))...)
	if err != nil {
		return nil, err
	}
	js, err := jetstream.New(conn)
	if err != nil {
		conn.Close()
		return nil, err
	}
	return &Parcels{conn, js}, nil
}

// Close ends the connection.
func (p *Parcels) Close() { p.conn.Close() }

// Send sends data to the receiver of that name. It waits while the server is away or has no
// room, and returns the cause of ctx if ctx ends first. An error in between may mean that the
// parcel was sent: it is sent again.
func (p *Parcels) Send(ctx context.Context, receiver string, data []byte) error {
	for {
		_, err := p.js.Publish(ctx, parcelSubject+receiver, data)
		switch {
		case err == nil:
			return nil
		case errors.Is(err, nats.ErrMaxPayload):
			return err
		}
		if err := p.pause(ctx); err != nil {
			return err
		}
		_ = p.Open(ctx) // the server may have lost the stream
	}
}

// Receive calls f with each parcel for the receiver of that name, in the order in which they
// were sent, until ctx ends. It calls f again with a parcel when the connection was lost.
func (p *Parcels) Receive(ctx context.Context, receiver string, f func([]byte)) {
	for ctx.Err() == nil {
		if err := p.receive(ctx, receiver, f); err != nil && p.pause(ctx) == nil {
			_ = p.Open(ctx)
		}
	}
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), parcelWait)
	defer cancel()
	_ = p.js.DeleteConsumer(ending, parcelStream, receiver) // or the server does, later
}

// Open makes the stream, unless there is one.
func (p *Parcels) Open(ctx context.Context) error {
	storage, replicas := jetstream.MemoryStorage, 1
	tasks, err := p.js.Stream(ctx, tasksStream)
	if err == nil {
		have := tasks.CachedInfo().Config
		storage, replicas = have.Storage, have.Replicas
	}
	_, err = p.js.CreateStream(ctx, jetstream.StreamConfig{
		Name: parcelStream, Subjects: []string{parcelSubject + ">"}, Description: "output of stint run",
		Retention: jetstream.WorkQueuePolicy, Discard: jetstream.DiscardNew, MaxBytes: parcelBytes, MaxAge: parcelAge,
		Storage: storage, Replicas: replicas,
	})
	if errors.Is(err, jetstream.ErrStreamNameAlreadyInUse) {
		return nil
	}
	return err
}

// receive receives parcels until none comes or there is an error.
func (p *Parcels) receive(ctx context.Context, receiver string, f func([]byte)) error {
	consumer, err := p.js.CreateOrUpdateConsumer(ctx, parcelStream, jetstream.ConsumerConfig{
		Name: receiver, FilterSubject: parcelSubject + receiver, AckPolicy: jetstream.AckExplicitPolicy,
		AckWait: parcelLease, MaxAckPending: 1, InactiveThreshold: parcelReceiver,
	})
	if err != nil {
		return err
	}
	for ctx.Err() == nil {
		batch, err := consumer.Fetch(1, jetstream.FetchMaxWait(parcelWait))
		if err != nil {
			return err
		}
		for m := range batch.Messages() {
			f(m.Data())
			if err := m.DoubleAck(ctx); err != nil {
				return err
			}
		}
		if err := batch.Error(); err != nil && !errors.Is(err, nats.ErrTimeout) {
			return err
		}
	}
	return nil
}

func (p *Parcels) pause(ctx context.Context) error {
	timer := time.NewTimer(parcelPause)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return cmp.Or(context.Cause(ctx), ctx.Err())
	}
}
