package stream_test

import (
	"context"
	"testing"
	"time"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/internal/race"
	"github.com/stint-go/stint/stream"
)

// ParMap is a part of a tree of calls without a limit, whose tasks share one limit: at most 256
// of 300 x 300 sleepers run at once, and the search finds that.
func TestTreeWithParMap(t *testing.T) {
	n := 300
	if race.Enabled {
		n = 80
	}
	leaf := func(g *gauge) func(context.Context, int) (int, error) {
		return func(_ context.Context, v int) (int, error) { g.Hold(10 * time.Millisecond); return v, nil }
	}
	parMap := func(ctx context.Context, f func(context.Context, int) (int, error)) error {
		_, err := stream.Collect(ctx, stream.ParMap(stream.From(indexes(n)), f))
		return err
	}
	each := func(ctx context.Context, f func(context.Context, int) (int, error)) error {
		return stint.Range(ctx, n, func(ctx context.Context, i int) error { _, err := f(ctx, i); return err })
	}
	group := func(ctx context.Context, f func(context.Context, int) (int, error)) error {
		g := stint.NewGroup(ctx)
		for i := range n {
			g.Go(func(ctx context.Context) error { _, err := f(ctx, i); return err })
		}
		return g.Wait()
	}
	type run = func(context.Context, func(context.Context, int) (int, error)) error
	for _, x := range []struct {
		name         string
		outer, inner run
	}{
		{"ParMap in a ParMap", parMap, parMap},
		{"ParMap in Range", each, parMap},
		{"Range in a ParMap", parMap, each},
		{"ParMap in a Group", group, parMap},
		{"Group in a ParMap", parMap, group},
	} {
		bubble(t, x.name, func(t *testing.T) {
			var g gauge
			err := x.outer(context.Background(), func(ctx context.Context, v int) (int, error) { return v, x.inner(ctx, leaf(&g)) })
			equal(t, "error", err, nil)
			g.Is(t, 0, min(g.Max(), 256), n*n)
			ideal := time.Duration(n*n) * 10 * time.Millisecond / 256
			if took := sinceBubble(); took > ideal*13/10 && n == 300 {
				t.Errorf("took %v, the ideal is %v", took, ideal)
			}
		})
	}
}
