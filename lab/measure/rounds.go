package measure

import "context"

// Rounds runs n models in turn, 0 1 2 0 1 2 and so on, so that changes of the
// machine affect all of them: first a warm-up round, numbered -1, then count
// rounds. It stops at the first error of run, or between two runs when ctx
// ends.
func Rounds(ctx context.Context, count, n int, run func(round, model int) error) error {
	for round := -1; round < count; round++ {
		for model := range n {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := run(round, model); err != nil {
				return err
			}
		}
	}
	return nil
}
