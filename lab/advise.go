package main

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"

	"github.com/spf13/cobra"
	"github.com/stint-go/stint/lab/advise"
	"github.com/stint-go/stint/lab/load"
)

// A question is what the flags of advise ask.
type question struct {
	n             int
	most          int
	budget        time.Duration
	compute, wait time.Duration
	command       []string
}

func newAdvise() *cobra.Command {
	var q question
	cmd := &cobra.Command{
		Use:   "advise [flags] [-- COMMAND [ARG...]]",
		Short: "Measure whether your own work is faster concurrently",
		Long: `Measure whether your own work is faster concurrently: a command, or a model
of a function that computes and waits for given times.

The command runs for each index from 0 to n-1, which replaces {} in its arguments,
sequentially and concurrently under several limits. It runs many times, also for
the same index, and for all indexes at once. Its standard output is discarded.
Advise stops at the first failure. Its advice is code, and lines with "stint run"
and with xargs that do the same.

For a Go function use package lab/advise in a test.`,
		Example: "  go run ./lab advise --n 50 -- gzip -kf file{}\n" +
			"  go run ./lab advise --budget 30s --most 8 -- curl -sfo /dev/null http://localhost:8080/{}\n" +
			"  go run ./lab advise --n 100 --compute 1ms --wait 9ms",
		Args: cobra.ArbitraryArgs,
	}
	f := cmd.Flags()
	f.SetInterspersed(false) // the flags of COMMAND are its own
	f.IntVar(&q.n, "n", 20, "number of items")
	f.IntVar(&q.most, "most", 0, "largest number of concurrent items; 0: 256, or GOMAXPROCS if that is more")
	f.DurationVar(&q.budget, "budget", 5*time.Second, "approximate measuring time")
	f.DurationVar(&q.compute, "compute", 0, "without a COMMAND: computing time of an item")
	f.DurationVar(&q.wait, "wait", 0, "without a COMMAND: waiting time of an item")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		q.command = args
		if err := q.check(); err != nil {
			return err
		}
		fmt.Fprintf(cmd.ErrOrStderr(), "advise: measuring for up to %v\n", q.budget)
		a, err := q.ask(cmd.Context())
		if err == nil || len(a.Rows) > 0 {
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

// check validates the flags.
func (q *question) check() error {
	switch {
	case q.n < 1:
		return fmt.Errorf("--n %d: must be 1 or more", q.n)
	case q.most != 0 && q.most < 2:
		return fmt.Errorf("--most %d: must be 2 or more, or 0", q.most)
	case q.budget <= 0:
		return fmt.Errorf("--budget %v: must be more than 0", q.budget)
	case q.compute < 0:
		return fmt.Errorf("--compute %v: must not be negative", q.compute)
	case q.wait < 0:
		return fmt.Errorf("--wait %v: must not be negative", q.wait)
	case len(q.command) > 0 && q.compute+q.wait > 0:
		return fmt.Errorf("--compute and --wait cannot be used with a command (%s)", q.command[0])
	case len(q.command) == 0 && q.compute+q.wait == 0:
		return errors.New("nothing to measure: give a command after --, or --compute or --wait")
	}
	return nil
}

// ask measures. It stops at the first error of the command.
func (q *question) ask(ctx context.Context) (*advise.Advice, error) {
	opts := []advise.Option{advise.Budget(q.budget)}
	if q.most > 0 {
		opts = append(opts, advise.Most(q.most))
	}
	if len(q.command) == 0 {
		a, err := advise.Run(ctx, q.n, q.model(), opts...)
		return a, errors.Join(err, ctx.Err())
	}
	command, err := advise.NewCommand(q.command)
	if err != nil {
		return new(advise.Advice), err
	}
	failing, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	a, err := advise.Run(failing, q.n, func(i int) {
		if err := command.Run(failing, i); err != nil {
			fail(err)
		}
	}, append(opts, advise.CPU(command.CPU))...)
	a.Lines = command.Lines(a)
	return a, errors.Join(err, ctx.Err())
}

// model returns a function that computes and then waits.
func (q *question) model() func(int) {
	steps := 0
	if q.compute > 0 {
		steps = load.Steps(q.compute)
	}
	return func(int) {
		if steps > 0 {
			runtime.KeepAlive(load.Spin(steps))
		}
		if q.wait > 0 {
			time.Sleep(q.wait)
		}
	}
}
