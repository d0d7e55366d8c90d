package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stint-go/stint/cmd/stint/internal/console"
)

const (
	parcelStream   = "stint-output"
	parcelSubject  = "stint.output."
	parcelBytes    = 64 << 20 // that the server keeps, if it has so much room: then senders wait
	parcelBytesMin = 1 << 20
	parcelAge      = time.Hour // of parcels that nobody removes
	parcelLease    = 30 * time.Second
	parcelWait     = time.Second // for a parcel, before the receiver asks again
	parcelPause    = 50 * time.Millisecond
	parcelPauseMax = time.Second
	tasksStream    = "stint-tasks" // whose storage that of parcels is
	parcelReceiver = 5 * time.Minute
	parcelPatience = 8 // attempts to send a parcel, before the user is told
)

// A Parcels sends and receives data that is too large for the result of a task. The server
// keeps parcels until they are received: in a stream of its own, of bounded size. A receiver has
// the name of its run: package cluster removes the parcels of runs that are over.
type Parcels struct {
	conn    *nats.Conn
	js      jetstream.JetStream
	denied  atomic.Pointer[denial]
	console *console.Console
	waiting atomic.Bool // for room, as the user was told
}

// A denial is the last error by which the server has refused permission: it sends such errors
// on the connection, not in the answer to a request.
type denial struct {
	err error
	at  time.Time
}

// NewParcels connects to the server. What it waits for is printed to con.
func (c *Connection) NewParcels(con *console.Console) (*Parcels, error) {
	opts, err := c.options()
	if err != nil {
		return nil, err
	}
	p := &Parcels{console: con}
	p.conn, err = nats.Connect(c.URL, append(opts, c.inbox(), nats.RetryOnFailedConnect(true),
		nats.MaxReconnects(-1), nats.IgnoreAuthErrorAbort(), // a restarted server may have another token
		nats.ReconnectBufSize(-1), // without a connection a parcel is refused at once, and sent again
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) {
			if errors.Is(err, nats.ErrPermissionViolation) {
				p.denied.Store(&denial{err, time.Now()})
			}
		}))...)
	if err != nil {
		return nil, err
	}
	if p.js, err = jetstream.New(p.conn); err != nil {
		p.conn.Close()
		return nil, err
	}
	return p, nil
}

// inbox makes the server answer on a subject with the name of the user, as package cluster does:
// a user with a role may subscribe to no other.
func (c *Connection) inbox() nats.Option {
	const plain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	first, _, _ := strings.Cut(c.URL, ",")
	return func(o *nats.Options) error {
		u, err := parse(strings.TrimSpace(first))
		if err != nil || u.User == nil {
			return nil
		}
		name := u.User.Username()
		if _, ok := u.User.Password(); ok && name != "" && strings.Trim(name, plain) == "" { // else the name is a token
			o.InboxPrefix = nats.InboxPrefix + name
		}
		return nil
	}
}

// Close ends the connection.
func (p *Parcels) Close() { p.conn.Close() }

// Send sends data to the receiver of that name. It waits while the server is away or has no
// room, and returns the cause of ctx if ctx ends first. An error in between may mean that the
// parcel was sent: it is sent again.
func (p *Parcels) Send(ctx context.Context, receiver string, data []byte) error {
	attempts := 0
	err := p.request(ctx, func(err error) bool { return errors.Is(err, nats.ErrMaxPayload) }, func() error {
		_, err := p.js.Publish(ctx, parcelSubject+receiver, data)
		if err == nil {
			return nil
		}
		attempts++
		if api, refused := errors.AsType[*jetstream.APIError](err); refused && attempts == parcelPatience && p.waiting.CompareAndSwap(false, true) {
			p.console.Message("the server has no room for more output of jobs (" + api.Description + "); waiting for room")
		}
		_, _ = p.stream(ctx) // the server may have lost it
		return err
	})
	if err == nil && attempts == 0 {
		p.waiting.Store(false)
	}
	return err
}

// request calls f, which makes a request, until it succeeds, the error is final or a denial, or ctx
// ends. It is for each request that must not fail while the server is away.
func (p *Parcels) request(ctx context.Context, final func(error) bool, f func() error) error {
	for n := 0; ; n++ {
		start := time.Now()
		err := f()
		if err == nil || final(err) {
			return err
		}
		if denied := p.deniedSince(start); denied != nil {
			return denied
		}
		if err := pause(ctx, n); err != nil {
			return err
		}
	}
}

// deniedSince returns the error by which the server has refused permission since start.
func (p *Parcels) deniedSince(start time.Time) error {
	if d := p.denied.Load(); d != nil && !d.at.Before(start) {
		return d.err
	}
	return nil
}

// Receive calls f with each parcel for the receiver of that name, in the order in which they
// were sent, until ctx ends. It calls f again with a parcel when the connection was lost, and
// with nil now and then while the server has none. In the end it removes what was not received.
func (p *Parcels) Receive(ctx context.Context, receiver string, f func([]byte)) {
	for ctx.Err() == nil {
		if err := p.receive(ctx, receiver, f); err != nil && pause(ctx, 1) == nil {
			_, _ = p.stream(ctx)
		}
	}
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), parcelWait)
	defer cancel()
	_ = p.js.DeleteConsumer(ending, parcelStream, receiver) // or the server does, later
	p.Drop(ending, receiver)
}

// Drop removes the parcels for a receiver that is gone.
func (p *Parcels) Drop(ctx context.Context, receiver string) {
	if stream, err := p.js.Stream(ctx, parcelStream); err == nil {
		_ = stream.Purge(ctx, jetstream.WithPurgeSubject(parcelSubject+receiver)) // or a worker does, later
	}
}

// Open makes the stream, unless there is one. It waits while the server is away.
func (p *Parcels) Open(ctx context.Context) error {
	refused := func(err error) bool {
		api, answered := errors.AsType[*jetstream.APIError](err)
		return answered && api.Code != 503 // of a server that is about to be ready
	}
	err := p.request(ctx, refused, func() error {
		_, err := p.stream(ctx)
		return err
	})
	if api, is := errors.AsType[*jetstream.APIError](err); is {
		err = fmt.Errorf("stream %s, one of 6 that are needed: %w", parcelStream, api)
	}
	return err
}

// stream returns the stream, which it makes, unless there is one, as large as the server has
// room for.
func (p *Parcels) stream(ctx context.Context) (jetstream.Stream, error) {
	config := jetstream.StreamConfig{
		Name: parcelStream, Subjects: []string{parcelSubject + ">"}, Description: "output of stint run",
		Retention: jetstream.WorkQueuePolicy, Discard: jetstream.DiscardNew, MaxBytes: parcelBytes, MaxAge: parcelAge,
		Storage: jetstream.MemoryStorage, Replicas: 1,
	}
	if tasks, err := p.js.Stream(ctx, tasksStream); err == nil {
		have := tasks.CachedInfo().Config
		config.Storage, config.Replicas = have.Storage, have.Replicas
	}
	stream, err := p.js.CreateStream(ctx, config)
	for isShort(err) && config.MaxBytes > parcelBytesMin {
		config.MaxBytes /= 2
		stream, err = p.js.CreateStream(ctx, config)
	}
	if errors.Is(err, jetstream.ErrStreamNameAlreadyInUse) { // of another size
		stream, err = p.js.Stream(ctx, parcelStream)
	}
	return stream, err
}

// isShort reports whether err says that the server does not have the room that a stream is to
// have.
func isShort(err error) bool {
	const noPeers, noMemory, noStorage, tooLarge = 10005, 10028, 10047, 10122
	api, ok := errors.AsType[*jetstream.APIError](err)
	return ok && (api.ErrorCode == noMemory || api.ErrorCode == noStorage || api.ErrorCode == tooLarge ||
		api.ErrorCode == noPeers && strings.Contains(api.Description, "insufficient storage"))
}

// receive receives parcels until there is an error. It makes another consumer, so that the
// server delivers at once what the one before it has lost.
func (p *Parcels) receive(ctx context.Context, receiver string, f func([]byte)) error {
	_ = p.js.DeleteConsumer(ctx, parcelStream, receiver)
	consumer, err := p.js.CreateConsumer(ctx, parcelStream, jetstream.ConsumerConfig{
		Name: receiver, FilterSubject: parcelSubject + receiver, AckPolicy: jetstream.AckExplicitPolicy,
		AckWait: parcelLease, MaxAckPending: 1, InactiveThreshold: parcelReceiver,
	})
	for err == nil && ctx.Err() == nil {
		err = receiveOne(ctx, consumer, f)
	}
	return err
}

// receiveOne waits for a parcel, for a while.
func receiveOne(ctx context.Context, consumer jetstream.Consumer, f func([]byte)) error {
	once, cancel := context.WithTimeout(ctx, parcelWait)
	defer cancel()
	m, err := consumer.Next(jetstream.FetchContext(once))
	switch {
	case err == nil:
		f(m.Data())
		return m.DoubleAck(ctx)
	case !errors.Is(err, nats.ErrTimeout):
		return err
	}
	info, err := consumer.Info(ctx)
	if err == nil && info.NumPending == 0 && info.NumAckPending == 0 {
		f(nil)
	}
	return err
}

// pause waits before another attempt, the longer the more there were.
func pause(ctx context.Context, attempts int) error {
	timer := time.NewTimer(min(parcelPause<<min(attempts, 10), parcelPauseMax))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return cmp.Or(context.Cause(ctx), ctx.Err())
	}
}
