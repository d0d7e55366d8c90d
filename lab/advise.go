package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"

	"github.com/stint-go/stint/lab/advise"
)

const adviseUsage = `usage: lab advise [flags] -- COMMAND [ARG...]

Measure whether a command of your own is faster concurrently, and under which limit. The command runs for each index
from 0 to n-1, which replaces {} in its arguments, sequentially and concurrently under several limits. It runs many times,
also for the same index, and for all indexes at once. Its standard output is discarded.

`

func adviseCommand(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	var n int
	var o advise.Options
	flags := flag.NewFlagSet("advise", flag.ContinueOnError)
	flags.IntVar(&n, "n", 20, "number of items")
	flags.IntVar(&o.Most, "most", 0, "largest number of concurrent items; 0: 256, or GOMAXPROCS if that is more")
	flags.DurationVar(&o.Budget, "budget", 0, "approximate measuring time; 0: 5s to 1m, by the time of the first items")
	flags.Usage = func() { fmt.Fprint(stderr, adviseUsage); flags.PrintDefaults() }
	if err := parse(flags, args, stderr); err != nil {
		return err
	}
	switch {
	case n < 1:
		return &usageError{fmt.Errorf("-n %d: must be 1 or more", n)}
	case o.Most < 0 || o.Most == 1:
		return &usageError{fmt.Errorf("-most %d: must be 2 or more, or 0", o.Most)}
	case o.Budget < 0:
		return &usageError{fmt.Errorf("-budget %v: must not be negative", o.Budget)}
	case flags.NArg() == 0:
		return &usageError{errors.New("nothing to measure: give a command after --")}
	}
	fmt.Fprintln(stderr, "advise: measuring, up to a minute if -budget says nothing else")
	a, err := ask(ctx, n, flags.Args(), o)
	if err == nil || ctx.Err() != nil && len(a.Rows) > 0 { // what an interrupt leaves
		_, werr := fmt.Fprint(stdout, a)
		err = errors.Join(err, werr)
	}
	return err
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
