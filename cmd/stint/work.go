package main

import (
	"context"
	"errors"
	"os"
	"os/user"
	"strconv"

	"github.com/spf13/cobra"
	"github.com/stint-go/stint"
	"github.com/stint-go/stint/cluster"
)

const workLong = `Do what others ask for at a server, until interrupted: digest the files of
"stint sum --cluster". The files have to be here under the same names as where
that command was typed, on a file system that both machines have.

A worker reads files for everybody who may use the server: with its own rights,
and for the asker's eyes. The digest of a file tells whether it exists and whether
it holds what somebody guesses. With --root it reads below one directory only, by
the name that it was given or the one without symbolic links: what does not begin
with that, and links that lead out of it, also those that change meanwhile, it
refuses, and does not look whether something is there.
Without --root it says at its start that it reads every file that its user may
read: let that be a user of few rights. Pipes, devices and sockets are never read.

Start as many workers as you like, on as many machines. An interrupt makes one
finish the files that it is reading, and end; a second one ends it at once, and
what it was reading is given to another worker after ten seconds. When the server
is away, or not there yet, also by name, the worker waits for it.

Whoever may work at the server can forge results.

` + inScripts

const workExample = `  stint work --cluster nats://127.0.0.1:4222
  STINT_TOKEN=$(cat token) stint work --cluster nats://fileserver:4222 --root /srv/photos -j 4`

const workExit = `  0    interrupted, terminated or hung up, and what was begun is finished
  1    the server did not let it in or could not be used, or the directory of --root
       not be opened
  2    wrong command line
  130  interrupted before the server was reached (143: terminated, 129: hung up)`

// clusterUsage is the help of --cluster in commands that are about nothing else.
const clusterUsage = "`URL` of the server, or of several with commas between them; the default is STINT_CLUSTER"

func newWork(std streams) *cobra.Command {
	var where connection
	var jobs, root string
	cmd := &cobra.Command{
		Use:         "work --cluster URL [flags]",
		Short:       "Run a worker, which reads files for others",
		Long:        workLong,
		Example:     workExample,
		Annotations: map[string]string{exitStatus: workExit},
		Args:        cobra.NoArgs,

		ValidArgsFunction: cobra.NoFileCompletions,
	}
	f := where.addTo(cmd)
	f.StringVarP(&jobs, "jobs", "j", "auto", "read `N` files at a time; auto: found while it runs")
	complete(cmd, "jobs", "auto")
	f.StringVar(&root, "root", "", "read files below directory `PATH` only")
	_ = cmd.MarkFlagDirname("root")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		opts, err := limit(jobs)
		if err == nil {
			err = refuseEmpty(f, "root")
		}
		if err == nil {
			err = where.complete(f)
		}
		if err != nil {
			return &usageError{cmd.CommandPath(), err.Error()}
		}
		below, err := openSubtree(root)
		if err != nil {
			return &failure{"--root " + quote(root) + ": " + reason(err)}
		}
		return work(cmd.Context(), &where, &console{w: std.stderr}, below, opts)
	}
	return cmd
}

// work is a worker of the files in below, from its first connection to the end of the
// last file.
func work(ctx context.Context, where *connection, c *console, below *subtree, opts []stint.Option) error {
	e, err := where.await(ctx, c, cluster.Log(c.logger()))
	if err != nil {
		return err
	}
	defer e.Close()
	d := newDigester(nil)
	d.open = below.open
	task := digestTask(d)
	e.Handle(task)
	c.message("working for " + where.public() + ": " + task.Name())
	if below.root == nil {
		c.message("WARNING: reading every file that user " + userName() + " may read, for whoever reaches the server; --root limits it")
	}
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

// userName is the user whose files a worker reads.
func userName() string {
	if u, err := user.Current(); err == nil {
		return quote(u.Username)
	}
	return strconv.Itoa(os.Getuid())
}
