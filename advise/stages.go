package advise

import (
	"context"
	"time"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/stream"
)

// Stages measures a function in two steps for the indexes from 0 to n-1, in order. It reports
// whether it pays to produce a record while the record before is consumed. It compares a loop
// with a channel, with a boundary of package stream, and with a boundary that passes batches.
// It calls both functions many times for an index, but never the same function concurrently,
// for up to 20 seconds. Errors, panics and the end of ctx are as in Run.
func Stages[T any](ctx context.Context, n int, produce func(ctx context.Context, i int) (T, error), consume func(ctx context.Context, record T) error) (*Report, error) {
	records := func(n int) stream.Stream[T] {
		return stream.MapErr(stream.Generate(func(_ context.Context, emit func(int) bool) error {
			for i := 0; i < n && emit(i); i++ {
			}
			return nil
		}), produce)
	}
	consumed := func(record T) error { return consume(ctx, record) }
	var both function
	if produce != nil && consume != nil {
		both = func(ctx context.Context, i int) error {
			record, err := produce(ctx, i)
			if err == nil {
				err = consume(ctx, record)
			}
			return err
		}
	}
	return Options{Budget: 20 * time.Second}.measure(ctx, "Stages", n, both, []*model{
		{Model: Model{Name: "loop", Limit: 1}, code: "for i := range n {\n\trecord, err := produce(ctx, i)\n\tif err == nil {\n\t\terr = consume(ctx, record)\n\t}\n\tif err != nil {\n\t\treturn err\n\t}\n}"},
		{Model: Model{Name: "stream.Buffer"}, code: "records := stream.MapErr(stream.FromSeq(indexes), produce) // indexes: an iter.Seq[int]\nerr := stream.Each(ctx, stream.Buffer(records, 1024), func(r T) error { return consume(ctx, r) })",
			list: func(ctx context.Context, n int, _ function) error {
				return stream.Each(ctx, stream.Buffer(records(n), 1024), consumed)
			}},
		{Model: Model{Name: "batches"}, code: "batches := stream.Chunk(stream.MapErr(stream.FromSeq(indexes), produce), 128, 0) // indexes: an iter.Seq[int]\nerr := stream.Each(ctx, stream.Buffer(batches, 8), consumeBatch)",
			list: func(ctx context.Context, n int, _ function) error {
				return stream.Each(ctx, stream.Buffer(stream.Chunk(records(n), 128, 0), 8), func(batch []T) (err error) {
					for i := 0; i < len(batch) && err == nil; i++ {
						err = consumed(batch[i])
					}
					return err
				})
			}},
		{Model: Model{Name: "channel"}, code: "records := make(chan T) // and a goroutine that produces",
			list: func(ctx context.Context, n int, _ function) error {
				ch, group := make(chan T), stint.NewGroup(ctx, stint.Limit(2))
				group.Go(func(ctx context.Context) error {
					defer close(ch)
					for i := range n {
						record, err := produce(ctx, i)
						if err != nil {
							return err
						}
						select {
						case ch <- record:
						case <-ctx.Done():
							return context.Cause(ctx)
						}
					}
					return nil
				})
				group.Go(func(ctx context.Context) error {
					for record := range ch {
						if err := consume(ctx, record); err != nil {
							return err
						}
					}
					return nil
				})
				return group.Wait()
			}},
	})
}
