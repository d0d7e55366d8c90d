package main

import (
	"github.com/spf13/cobra"
	"github.com/stint-go/stint/cluster"
	"github.com/stint-go/stint/cmd/stint/internal/console"
	"github.com/stint-go/stint/cmd/stint/internal/server"
)

var statusHelp = help{
	use:   "status --cluster URL [flags]",
	short: "Print the runs, tasks and workers of a server",
	long: `Print the state of a server: the runs that have not ended, the queued tasks and
the tasks in flight of each task name, the workers that answer within half a
second, the latest 100 dead letters, and the number of further dead letters.

A task in flight is with a worker. It is redelivered if it was given to a worker
before. A limit of - means no limit. LEFT counts the calls that did not return
after their timeout. An observer may not see dead letters, which contain items:
"deadLetters" of --json is null.

To find out whether the server stores messages, status sends a message, which is
removed after a second. If the server does not store it, for example because its
disk is full, status prints the reason, which is also in "store" of --json, and
exits with 1.`,
	example: `  stint status --cluster nats://127.0.0.1:4222
  stint status --json | jq '.workers | length'`,
	exit: `  0    printed
  1    the server stores nothing or could not be reached, or the output could
       not be written
  2    wrong command line`,
}

func newStatus() *cobra.Command {
	c := newClient(statusHelp)
	asJSON := c.Flags().Bool("json", false, "print a JSON object")
	c.RunE = func(cmd *cobra.Command, _ []string) error {
		return c.connected(func(client *cluster.Client) error {
			status, err := client.Status(cmd.Context())
			if err != nil {
				return c.server.Failed(err)
			}
			if err := server.WriteStatus(cmd.OutOrStdout(), status, *asJSON); err != nil {
				return err
			}
			if status.Store != "" {
				return console.Failure(c.server.Public() + " stores nothing: " + status.Store)
			}
			return nil
		})
	}
	return c.Command
}
