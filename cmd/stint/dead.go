package main

import (
	"context"

	"github.com/spf13/cobra"
	"github.com/stint-go/stint/cluster"
	"github.com/stint-go/stint/cmd/stint/internal/console"
	"github.com/stint-go/stint/cmd/stint/internal/server"
)

var deadHelp = help{
	use:   "dead --cluster URL [list | retry ID... | drop ID...] [flags]",
	short: "List, retry or drop dead letters",
	long: `List, retry or drop the dead letters of a server. A dead letter is a task that
killed several workers, the last of which ran only this task, or a message that
is not a task. The run of such a task gets an error as the result of the task.
The server keeps 10,000 dead letters, for a day.

list, the default, prints all dead letters, the oldest first. With --json it
prints an object per line. Its "input" is the encoded item in base64. For "stint
sum" the item is JSON with the name of a file.

retry puts a task back into the queue, as part of its run. Use it when workers
no longer die of the task. It works only for a run with a name whose process
died at least a minute ago and that was not resumed since: the error must not
have been delivered. Otherwise retry is refused, and the item has to be
submitted again: run "stint sum" again.

drop removes dead letters.`,
	example: `  stint dead --cluster nats://127.0.0.1:4222
  stint dead list --json | jq -r '.input | @base64d'
  stint dead retry nightly:Kxb2JhXF9UHzPCvvgmZbAd/7
  stint dead drop --all`,
	exit: `  0    done
  1    an ID does not exist, a task could not be put back, the server could not
       be reached, or the output could not be written; the rest is done
  2    wrong command line`,
}

// deadVerbs are the verbs of "stint dead", and what each does to an ID.
var deadVerbs = map[string]func(*cluster.Client, context.Context, string) error{
	"list":  nil,
	"retry": (*cluster.Client).RetryDeadLetter,
	"drop":  (*cluster.Client).DropDeadLetter,
}

func newDead() *cobra.Command {
	c := newClient(deadHelp)
	c.Args = cobra.ArbitraryArgs
	c.ValidArgsFunction = func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return []string{"list", "retry", "drop"}, cobra.ShellCompDirectiveNoFileComp
	}
	asJSON := c.Flags().Bool("json", false, "with list: print a JSON object a line")
	all := c.Flags().Bool("all", false, "with retry and drop: all dead letters")
	c.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			args = []string{"list"}
		}
		ctx, verb, ids := cmd.Context(), args[0], args[1:]
		does, known := deadVerbs[verb]
		list := does == nil
		err := refuse(
			rule{!known, "invalid argument " + console.Quote(verb) + ": want list, retry or drop"},
			rule{list && len(ids) > 0, "list takes no operands: it prints all dead letters"},
			rule{list && *all, "the --all option is meaningful only with retry and drop"},
			rule{!list && *asJSON, "the --json option is meaningful only with list"},
			rule{!list && *all && len(ids) > 0, "IDs cannot be combined with --all"},
			rule{!list && !*all && len(ids) == 0, "missing operand: an ID, or --all"},
		)
		if err != nil {
			return usage(cmd, err)
		}
		return c.connected(func(client *cluster.Client) error {
			if list {
				if err := server.WriteDeadLetters(cmd.OutOrStdout(), client.DeadLetters(ctx), *asJSON); err != nil {
					return c.server.Failed(err)
				}
				return nil
			}
			if *all {
				for a, err := range client.DeadLetters(ctx) {
					if err != nil {
						return c.server.Failed(err)
					}
					ids = append(ids, a.ID)
				}
			}
			return c.forEach(ids, func(id string) error { return does(client, ctx, id) })
		})
	}
	return c.Command
}
