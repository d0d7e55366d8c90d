package stint

import "context"

// Map calls f for every item, as Each does, and returns the results in the order of
// the items. The slice always has the length of items: after an error it holds the
// results of the calls that succeeded, and zero values elsewhere. A result must not need the
// context given to f, which ends before Map returns: read the body of an *http.Response in f.
// Options: Limiter or Pool, KeepGoing, LowPriority, Name. Map panics if ctx or f is nil.
func Map[T, R any](ctx context.Context, items []T, f func(context.Context, T) (R, error), opts ...Option) ([]R, error) {
	checkArgs("Map", ctx, f == nil)
	c := &mapCall[T, R]{items: items, results: make([]R, len(items)), f: f}
	err := c.run(ctx, len(items), c, collect("Map", loopOptions, opts))
	return c.results, err
}

// A mapCall is one call of Map.
type mapCall[T, R any] struct {
	items   []T
	f       func(context.Context, T) (R, error)
	results []R // each has one writer
	call
}

func (c *mapCall[T, R]) caller() string { return "Map" }

func (c *mapCall[T, R]) Call(ctx context.Context, i int) error {
	r, err := c.f(ctx, c.items[i])
	if err == nil {
		c.results[i] = r
	}
	return err
}
