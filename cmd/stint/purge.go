package main

import (
	"fmt"

	"github.com/spf13/cobra"
)

const purgeLong = `Remove queued tasks, results and marks of runs that are over, as killed processes
leave them. A run that was not given a name is over a minute after its process
died. Runs that "stint status" shows stay, and so does what was put aside: see
"stint cancel" and "stint dead".

Workers do the same, within three minutes after the process died, later if very
much is stored; this is for a server that has none. It prints
how many messages were removed. If it finds something it looks again after 15
seconds, since a process that was only cut off may come back, and removes what it
has found twice.`

const purgeExample = `  stint purge --cluster nats://127.0.0.1:4222`

const purgeExit = `  0    what was there is removed; perhaps there was nothing
  1    the server could not be reached, something could not be removed, or the
       output could not be written
  2    wrong command line`

func newPurge() *cobra.Command {
	var where connection
	cmd := &cobra.Command{
		Use:         "purge --cluster URL [flags]",
		Short:       "Remove what killed processes have left on a server",
		Long:        purgeLong,
		Example:     purgeExample,
		Annotations: map[string]string{exitStatus: purgeExit},
		Args:        cobra.NoArgs,

		ValidArgsFunction: cobra.NoFileCompletions,
	}
	where.addTo(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		e, err := where.open(cmd)
		if err != nil {
			return err
		}
		defer e.Close()
		removed, err := e.Purge(cmd.Context())
		if err != nil {
			return where.failed(err)
		}
		_, err = fmt.Fprintf(cmd.OutOrStdout(), "removed %d messages\n", removed)
		return err
	}
	return cmd
}
