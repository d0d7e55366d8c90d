package measure

import "context"

// Rounds runs n models in turn, 0 1 2 0 1 2 and so on, so that what changes on
// the machine changes for all of them: first a round that does not count, as
// number -1, then count rounds. It stops at the first error of run, and between
// two runs when ctx ends.
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
