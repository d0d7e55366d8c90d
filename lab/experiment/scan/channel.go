package scan

import (
	"context"
	"fmt"

	"github.com/destel/rill"
	"github.com/sourcegraph/conc/stream"
	"github.com/stint-go/stint/lab/result"
)

// sent is a model with a goroutine that reads and sends on a channel, and the
// caller, which receives. send starts the reading and returns the channel, and
// an error that is valid once the channel is closed.
func sent[T any](name, doc string, send func(ctx context.Context, in input) (<-chan T, *error), receive func(ctx context.Context, c <-chan T, use consumer) (tally, error)) model {
	return model{Model: result.Peer.Model(name, doc), scan: func(ctx context.Context, in input, use consumer) (tally, error) {
		c, failed := send(ctx, in)
		t, err := receive(ctx, c, use)
		if err != nil {
			for range c { // until the sender has noticed
			}
			return t, err
		}
		return t, *failed
	}}
}

// sender reads on a goroutine and calls send for each record.
func sender[T any](in input, size int, send func(c chan<- T, r rating) bool) (<-chan T, *error) {
	c, err := make(chan T, size), new(error)
	go func() {
		defer close(c)
		*err = in.each(func(r rating) bool { return send(c, r) })
	}()
	return c, err
}

func receive(_ context.Context, c <-chan rating, use consumer) (tally, error) {
	var t tally
	for r := range c {
		t = use(t, r)
	}
	return t, nil
}

// sized returns the name and description of a channel with the given capacity.
func sized(name string, size int) (string, string) {
	if size == 0 {
		return name, "an unbuffered channel"
	}
	return fmt.Sprintf("%s-%d", name, size), fmt.Sprintf("a channel of %d", size)
}

// swept sets the model's point on a sweep.
func swept(sweep string, at int, m model) model {
	m.Sweep, m.At = sweep, float64(at)
	return m
}

// channel sends each record.
func channel(size int) model {
	name, doc := sized(nameChannel, size)
	return swept("capacity", size, sent(name, "a goroutine reads, "+doc, func(_ context.Context, in input) (<-chan rating, *error) {
		return sender(in, size, func(c chan<- rating, r rating) bool { c <- r; return true })
	}, receive))
}

// contextSend sends each record unless the context ends.
func contextSend(ctx context.Context, in input) (<-chan rating, *error) {
	return sender(in, 0, func(c chan<- rating, r rating) bool {
		select {
		case c <- r:
			return true
		case <-ctx.Done():
			return false
		}
	})
}

// These contexts can be cancelled, as in a program: for one that cannot, a
// select is less work.

func contextSender() model {
	return cancellable(sent("channel-context", "a goroutine reads, an unbuffered channel, it sends in a select with ctx.Done()", contextSend, receive))
}

func contextBoth() model {
	return cancellable(sent(nameContextBoth, "the same, and the caller receives in a select with ctx.Done() too", contextSend, receiveContext))
}

func cancellable(m model) model {
	scan := m.scan
	m.scan = func(ctx context.Context, in input, use consumer) (tally, error) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		return scan(ctx, in, use)
	}
	return m
}

func receiveContext(ctx context.Context, c <-chan rating, use consumer) (tally, error) {
	var t tally
	for {
		select {
		case r, ok := <-c:
			if !ok {
				return t, ctx.Err()
			}
			t = use(t, r)
		case <-ctx.Done():
			return t, ctx.Err()
		}
	}
}

// done sends each record unless a channel is closed.
func done(size int) model {
	name, doc := sized("channel-done", size)
	return sent(name, "a goroutine reads, "+doc+", it sends in a select with a channel that would be closed", func(_ context.Context, in input) (<-chan rating, *error) {
		done := make(chan struct{})
		return sender(in, size, func(c chan<- rating, r rating) bool {
			select {
			case c <- r:
				return true
			case <-done:
				return false
			}
		})
	}, receive)
}

// batches sends slices of records.
func batches(n int) model {
	doc := fmt.Sprintf("a goroutine reads, an unbuffered channel of slices of %d records", n)
	return swept("batch", n, sent(fmt.Sprintf("batches-%d", n), doc, func(_ context.Context, in input) (<-chan []rating, *error) {
		c, err := make(chan []rating), new(error)
		go func() {
			defer close(c)
			batch := make([]rating, 0, n)
			*err = in.each(func(r rating) bool {
				if batch = append(batch, r); len(batch) == n {
					c <- batch
					batch = make([]rating, 0, n)
				}
				return true
			})
			c <- batch
		}()
		return c, err
	}, func(_ context.Context, c <-chan []rating, use consumer) (tally, error) {
		var t tally
		for batch := range c {
			for _, r := range batch {
				t = use(t, r)
			}
		}
		return t, nil
	}))
}

// rillGenerate is a stream of destel/rill.
func rillGenerate() model {
	return model{Model: result.Peer.Model("rill", "destel/rill v0.7.0, Generate and ForEach of 1"), scan: func(_ context.Context, in input, use consumer) (t tally, err error) {
		c := rill.Generate(func(send func(rating), fail func(error)) {
			if err := in.each(func(r rating) bool { send(r); return true }); err != nil {
				fail(err)
			}
		})
		err = rill.ForEach(c, 1, func(r rating) error {
			t = use(t, r)
			return nil
		})
		return t, err
	}}
}

// concStream is the stream of sourcegraph/conc.
func concStream() model {
	return model{Model: result.Peer.Model("conc-stream", "sourcegraph/conc v0.3.0, stream.New().WithMaxGoroutines(1), the callbacks consume"), scan: func(_ context.Context, in input, use consumer) (t tally, err error) {
		s := stream.New().WithMaxGoroutines(1)
		err = in.each(func(r rating) bool {
			s.Go(func() stream.Callback { return func() { t = use(t, r) } })
			return true
		})
		s.Wait()
		return t, err
	}}
}
