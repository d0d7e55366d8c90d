package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"
	"github.com/stint-go/stint"
	"github.com/stint-go/stint/cluster"
)

const workLong = `Do what others ask for at a server, until interrupted: digest the files of
"stint sum --cluster". The files have to be here under the same names as where
that command was typed, on a file system that both machines have.

Start as many workers as you like, on as many machines. An interrupt makes one
finish the files that it is reading, and end; a second one ends it at once, and
what it was reading is given to another worker after ten seconds. When the server
is away, or not there yet, the worker waits for it.

Whoever may submit at the server has the worker read any file that its user may
read, and is told its digest, its size, or why it cannot be read, and so whether
it is there. Whoever may work there can forge results.

` + inScripts

const workExample = `  stint work --cluster nats://127.0.0.1:4222
  STINT_TOKEN=$(cat token) stint work --cluster nats://fileserver:4222 -j 4`

const workExit = `  0    interrupted, terminated or hung up, and what was begun is finished
  1    the server did not let it in, or could not be used
  2    wrong command line
  130  interrupted before the server was reached (143: terminated, 129: hung up)`

// clusterUsage is the help of --cluster in commands that are about nothing else.
const clusterUsage = "`URL` of the server, or of several with commas between them; the default is STINT_CLUSTER"

func newWork(std streams) *cobra.Command {
	var where connection
	var jobs string
	cmd := &cobra.Command{
		Use:         "work --cluster URL [flags]",
		Short:       "Run a worker, which reads files for others",
		Long:        workLong,
		Example:     workExample,
		Annotations: map[string]string{exitStatus: workExit},
		Args:        cobra.NoArgs,

		ValidArgsFunction: cobra.NoFileCompletions,
	}
	helpWithStatus(cmd)
	f := cmd.Flags()
	f.SortFlags = false
	where.addFlags(f, clusterUsage)
	complete(cmd, "cluster")
	f.StringVarP(&jobs, "jobs", "j", "auto", "read `N` files at a time; auto: found while it runs")
	complete(cmd, "jobs", "auto")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		opts, err := limit(jobs)
		if err == nil {
			err = where.complete(f)
		}
		if err != nil {
			return &usageError{cmd.CommandPath(), err.Error()}
		}
		return work(cmd.Context(), &where, &console{w: std.stderr}, opts)
	}
	return cmd
}

// work is a worker, from its first connection to the end of the last file.
func work(ctx context.Context, where *connection, c *console, opts []stint.Option) error {
	e, err := where.await(ctx, c, cluster.Log(c.logger()))
	if err != nil {
		return err
	}
	defer e.Close()
	task := digestTask(newDigester(nil))
	e.Handle(task)
	c.message("working for " + where.public() + ": " + task.Name())
	told := context.AfterFunc(ctx, func() {
		c.message("finishing what was begun; a second interrupt ends it at once")
	})
	defer told()
	err = cluster.Serve(ctx, e, opts...)
	if err != nil && !errors.Is(err, context.Cause(ctx)) { // not if it was interrupted before it had begun
		return where.failed(err)
	}
	return nil
}
