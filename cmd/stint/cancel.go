package main

import (
	"errors"

	"github.com/spf13/cobra"
)

const cancelLong = `End runs, by the names that "stint status" shows, whoever has begun them and also
if that process is dead. What is queued of a run, its results and its record are
removed, workers are told to stop what they do for it, and the limits of other
runs apply again. The command that began it, if it lives, fails and says that its
run was cancelled elsewhere.

What dead runs leave that "stint status" does not show, "stint purge" removes.`

const cancelExample = `  stint cancel --cluster nats://127.0.0.1:4222 nightly
  stint status --json | jq -r '.runs[].run' | xargs -r stint cancel`

const cancelExit = `  0    the runs are over, and nothing is left of them
  1    one is not there, or the server could not be reached; the others are over
  2    wrong command line`

func newCancel(std streams) *cobra.Command {
	var where connection
	cmd := &cobra.Command{
		Use:         "cancel --cluster URL RUN...",
		Short:       "End runs",
		Long:        cancelLong,
		Example:     cancelExample,
		Annotations: map[string]string{exitStatus: cancelExit},
		Args:        cobra.ArbitraryArgs,

		ValidArgsFunction: cobra.NoFileCompletions,
	}
	f := where.addTo(cmd)
	cmd.RunE = func(cmd *cobra.Command, runs []string) error {
		err := where.complete(f)
		if err == nil && len(runs) == 0 {
			err = errors.New("missing operand: the name of a run")
		}
		if err != nil {
			return &usageError{cmd.CommandPath(), err.Error()}
		}
		e, err := where.connect(cmd.Context())
		if err != nil {
			return err
		}
		defer e.Close()
		return where.each(runs, &console{w: std.stderr}, func(run string) error { return e.Cancel(cmd.Context(), run) })
	}
	return cmd
}
