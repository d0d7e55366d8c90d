package scan

import (
	"cmp"
	"context"
	"fmt"
	"io"

	"github.com/stint-go/stint/lab/result"
)

// A link is a channel over which a goroutine that reads sends to the consumer.
type link struct {
	buffer   int
	done     bool // it sends in a select with a channel that would be closed
	producer bool // it sends in a select with the context
	consumer bool // the consumer receives in a select with the context
}

// links returns the article's channels, and the sweeps of buffers and batches.
func links() []model {
	var out []model
	for _, w := range []struct {
		name, doc string
		link
	}{
		{"channel", "", link{}},
		{"channel-done", ", it sends in a select with a channel that would be closed", link{done: true}},
		{"channel-context-producer", ", it sends in a select with ctx.Done()", link{producer: true}},
		{"channel-context-consumer", ", the consumer receives in a select with ctx.Done()", link{consumer: true}},
		{"channel-context-both", ", both send and receive in a select with ctx.Done()", link{producer: true, consumer: true}},
	} {
		for _, n := range []int{0, 1, 10, 100, 1000} {
			w.buffer = n
			m := result.Peer.Model(w.name, fmt.Sprintf("a goroutine reads, a channel with a buffer of %d%s", n, w.doc))
			if n > 0 {
				m.Name, m.Sweep, m.At = fmt.Sprintf("%s-%d", w.name, n), "buffer", float64(n)
			}
			out = append(out, model{Model: m, run: w.pointers})
			if !w.consumer && !w.producer && (n == 0 || n == 1000) {
				out = append(out, model{Model: result.Peer.Model(m.Name+"-values", m.Doc+"; it sends records, not pointers"), run: w.values})
			}
		}
	}
	for n := 1; n <= 100_000; n *= 10 {
		doc := fmt.Sprintf("a goroutine reads, an unbuffered channel of slices of %d records, and as channel-done", n)
		m := result.Peer.Model(fmt.Sprintf("batches-%d", n), doc)
		m.Sweep, m.At = "batch", float64(n)
		out = append(out, model{Model: m, run: link{done: true}.batches(n)})
	}
	return out
}

// An item is a record or an error.
type item struct {
	rating
	err error
}

// pointers sends pointers to items, as the article does.
func (l link) pointers(ctx context.Context, next nextRecord, use consumer) (tally, error) {
	return single(ctx, l, next, use, func(i item) *item { return &i }, func(i *item) item { return *i })
}

func (l link) values(ctx context.Context, next nextRecord, use consumer) (t tally, err error) {
	return single(ctx, l, next, use, func(i item) item { return i }, func(i item) item { return i })
}

// single sends items one by one, wrapped.
func single[T any](ctx context.Context, l link, next nextRecord, use consumer, wrap func(item) T, unwrap func(T) item) (t tally, err error) {
	err = pass(ctx, l, func(send func(T) bool) {
		for {
			r, err := next()
			if err == io.EOF || !send(wrap(item{r, err})) || err != nil {
				return
			}
		}
	}, func(v T) error {
		i := unwrap(v)
		if i.err == nil {
			t = use(t, i.rating)
		}
		return i.err
	})
	return t, err
}

// batches sends n records at a time.
func (l link) batches(n int) func(ctx context.Context, next nextRecord, use consumer) (tally, error) {
	return func(ctx context.Context, next nextRecord, use consumer) (t tally, err error) {
		var failed error
		err = pass(ctx, l, func(send func([]rating) bool) {
			batch := make([]rating, 0, n)
			for r := range records(next, &failed) {
				if batch = append(batch, r); len(batch) == n {
					if !send(batch) {
						return
					}
					batch = make([]rating, 0, n)
				}
			}
			send(batch)
		}, func(batch []rating) error {
			for _, r := range batch {
				t = use(t, r)
			}
			return nil
		})
		return t, cmp.Or(err, failed)
	}
}

// pass runs produce on a goroutine and calls take with what it sends.
func pass[T any](ctx context.Context, l link, produce func(send func(T) bool), take func(T) error) (err error) {
	ctx, cancel := context.WithCancel(ctx) // for a context that cannot be cancelled, a select is less work
	defer cancel()
	c, over := make(chan T, l.buffer), make(chan struct{})
	go func() {
		defer close(c)
		produce(func(v T) bool {
			switch {
			case l.done:
				select {
				case c <- v:
				case <-over:
					return false
				}
			case l.producer:
				select {
				case c <- v:
				case <-ctx.Done():
					return false
				}
			default:
				c <- v
			}
			return true
		})
	}()
	for open := true; open && err == nil; {
		var v T
		if l.consumer {
			select {
			case v, open = <-c:
			case <-ctx.Done():
				open = false
			}
		} else {
			v, open = <-c
		}
		if open {
			err = take(v)
		}
	}
	if l.consumer {
		err = cmp.Or(err, ctx.Err())
	}
	cancel()
	close(over)
	for range c { // until the goroutine has ended
	}
	return err
}
