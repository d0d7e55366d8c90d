package stint

import "context"

// Map calls f for every item, as Each does, and returns the results in the order
// of the items. The slice is always as long as items: after an error it holds
// what was finished, and zero values elsewhere. A result returned together with
// an error is not kept.
//
// Options: a Limiter or a Pool, KeepGoing, Name. Map panics if ctx or f is nil.
func Map[T, R any](ctx context.Context, items []T, f func(context.Context, T) (R, error), opts ...Option) ([]R, error) {
	check("Map", ctx, f == nil)
	results := make([]R, len(items))
	err := forEach("Map", ctx, len(items), func(ctx context.Context, i int) error {
		r, err := f(ctx, items[i])
		if err != nil {
			return err
		}
		results[i] = r // each index has one writer
		return nil
	}, opts)
	return results, err
}
