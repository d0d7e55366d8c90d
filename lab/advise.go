package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/stint-go/stint/lab/advise"
)

func newAdvise() *cobra.Command {
	var n int
	var o advise.Options
	cmd := &cobra.Command{
		Use:   "advise [flags] -- COMMAND [ARG...]",
		Short: "Measure whether a command of your own is faster concurrently",
		Long: `Measure whether a command of your own is faster concurrently, and under which limit.

The command runs for each index from 0 to n-1, which replaces {} in its arguments,
sequentially and concurrently under several limits. It runs many times, also for
the same index, and for all indexes at once. Its standard output is discarded.

The items must not depend on each other. Advise stops at the first failure, and says if
the command succeeded alone; it warns if its output is another one beside others. Of work
that is cut and merged again, the merging must be measured too.

The advice is code, and lines with "stint run" and with xargs that do the same. For a Go
function use package lab/advise in a test. From another directory, use a program that is
built: go build -o advise ./lab.`,
		Example: "  go run ./lab advise --n 50 -- gzip -kf file{}\n" +
			"  go run ./lab advise --budget 30s --most 8 -- curl -sfo /dev/null http://localhost:8080/{}",
		Args: cobra.ArbitraryArgs,
	}
	f := cmd.Flags()
	f.SetInterspersed(false) // the flags of COMMAND are its own
	f.IntVar(&n, "n", 20, "number of items")
	f.IntVar(&o.Most, "most", 0, "largest number of concurrent items; 0: 256, or GOMAXPROCS if that is more")
	f.DurationVar(&o.Budget, "budget", 0, "approximate measuring time; 0: 5s to 1m, by the time of the first items")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		switch {
		case n < 1:
			return fmt.Errorf("--n %d: must be 1 or more", n)
		case o.Most < 0 || o.Most == 1:
			return fmt.Errorf("--most %d: must be 2 or more, or 0", o.Most)
		case o.Budget < 0:
			return fmt.Errorf("--budget %v: must not be negative", o.Budget)
		case len(args) == 0:
			return errors.New("nothing to measure: give a command after --")
		}
		fmt.Fprintln(cmd.ErrOrStderr(), "advise: measuring, up to a minute if --budget says nothing else")
		a, err := ask(cmd.Context(), n, args, o)
		if err == nil || cmd.Context().Err() != nil && len(a.Rows) > 0 { // what an interrupt leaves
			_, werr := fmt.Fprint(cmd.OutOrStdout(), a)
			err = errors.Join(err, werr)
		}
		if err != nil {
			return &failure{fmt.Errorf("advise: %w", err)}
		}
		return nil
	}
	return cmd
}

// ask measures a command. It stops at its first error.
func ask(ctx context.Context, n int, args []string, o advise.Options) (*advise.Advice, error) {
	command, err := advise.NewCommand(args)
	if err != nil {
		return new(advise.Advice), err
	}
	failing, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	o.CPU = command.CPU
	a, err := o.Run(failing, n, func(i int) {
		if err := command.Run(failing, i); err != nil {
			fail(err)
		}
	})
	a.Lines = command.Lines(a)
	if differ := command.Check(); differ != nil {
		a.Warnings = append([]string{differ.Error()}, a.Warnings...)
	}
	return a, errors.Join(err, ctx.Err())
}
