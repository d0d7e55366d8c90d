package main

import (
	"errors"

	"github.com/spf13/cobra"
	"github.com/stint-go/stint/cluster"
)

var cancelHelp = help{
	use:   "cancel --cluster URL RUN...",
	short: "Cancel runs",
	long: `Cancel the runs with the names that "stint status" shows, also runs of another
user or of a dead process. The queued tasks, the results and the record of a run
are removed, its running tasks are told to stop, and its limit no longer holds
for other runs. The command that started the run fails and says that it was
cancelled elsewhere.

"stint purge" removes the remains of dead runs that "stint status" does not
show.`,
	example: `  stint cancel --cluster nats://127.0.0.1:4222 nightly
  stint status --json | jq -r '.runs[].run' | xargs -r stint cancel`,
	exit: `  0    the runs are cancelled, and nothing of them is left
  1    a run does not exist, or the server could not be reached; the other runs
       are cancelled
  2    wrong command line`,
}

func newCancel() *cobra.Command {
	c := newClient(cancelHelp)
	c.Args = cobra.ArbitraryArgs
	c.RunE = func(cmd *cobra.Command, runs []string) error {
		if len(runs) == 0 {
			return usage(cmd, errors.New("missing operand: the name of a run"))
		}
		return c.connected(func(client *cluster.Client) error {
			return c.forEach(runs, func(run string) error { return client.Cancel(cmd.Context(), run) })
		})
	}
	return c.Command
}
