package main

import (
	"fmt"

	"github.com/spf13/cobra"
	"github.com/stint-go/stint/cluster"
)

var purgeHelp = help{
	use:   "purge --cluster URL [flags]",
	short: "Remove what killed processes have left on a server",
	long: `Remove the queued tasks, results and output that killed processes have left on
the server, and print how many messages were removed. A run without a name is
over a minute after its process died. Runs that "stint status" shows are kept,
and so are dead letters: see "stint cancel" and "stint dead".

Workers do the same within three minutes, or later if very much is stored. Use
purge on a server without workers. If it finds something, it looks again after
15 seconds, and removes what it finds both times: a process may only have been
disconnected.`,
	example: `  stint purge --cluster nats://127.0.0.1:4222`,
	exit: `  0    the remains are removed, or there were none
  1    the server could not be reached, something could not be removed, or the
       output could not be written
  2    wrong command line`,
}

func newPurge() *cobra.Command {
	c := newClient(purgeHelp)
	c.RunE = func(cmd *cobra.Command, _ []string) error {
		return c.connected(func(client *cluster.Client) error {
			removed, err := client.Purge(cmd.Context())
			if err != nil {
				return c.server.Failed(err)
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "removed %d messages\n", removed)
			return err
		})
	}
	return c.Command
}
