package main

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/stint-go/stint/cluster"
)

const deadLong = `Show what a server has put aside, and remove it or put it back: tasks that ended
several workers, at last one that ran nothing else, and messages that are no
tasks. The result of such a task is an error for its run. The server keeps 10,000
of them, for a day.

list, which is the default, prints all of them, the oldest first. With --json
each is an object a line, whose "input" is the item in base64, as it was encoded:
for "stint sum" that is JSON with the name of a file.

retry puts a task back into the queue, as part of its run, when the workers do not
end of it any more. That is of use while nobody has got its error: while a run
that was given a name waits to be resumed, a minute after its submitter died or
later. In all other cases it is refused: the submitter has the error, and has to
submit the item again; "stint sum" in a new run.

drop removes what was put aside.`

const deadExample = `  stint dead --cluster nats://127.0.0.1:4222
  stint dead list --json | jq -r '.input | @base64d'
  stint dead retry nightly:Kxb2JhXF9UHzPCvvgmZbAd/7
  stint dead drop --all`

const deadExit = `  0    done
  1    an ID is not there, a task could not be put back, the server could not be
       reached, or the output could not be written; the rest is done
  2    wrong command line`

// dead is a command line of "stint dead".
type dead struct {
	where  connection
	asJSON bool
	all    bool
}

// deadVerbs are the words that may follow dead, and what is done to an ID then.
var deadVerbs = map[string]func(*cluster.Engine, context.Context, string) error{
	"list":  nil,
	"retry": (*cluster.Engine).RetryAside,
	"drop":  (*cluster.Engine).DropAside,
}

func newDead(std streams) *cobra.Command {
	var d dead
	cmd := &cobra.Command{
		Use:         "dead --cluster URL [list | retry ID... | drop ID...] [flags]",
		Short:       "Show what was put aside, remove it or put it back",
		Long:        deadLong,
		Example:     deadExample,
		Annotations: map[string]string{exitStatus: deadExit},
		Args:        cobra.ArbitraryArgs,

		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return []string{"list", "retry", "drop"}, cobra.ShellCompDirectiveNoFileComp
		},
	}
	f := d.where.addTo(cmd)
	f.BoolVar(&d.asJSON, "json", false, "with list: print a JSON object a line")
	f.BoolVar(&d.all, "all", false, "with retry and drop: all that was put aside")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			args = []string{"list"}
		}
		if err := d.validate(f, args[0], args[1:]); err != nil {
			return &usageError{cmd.CommandPath(), err.Error()}
		}
		return d.run(cmd.Context(), cmd.OutOrStdout(), &console{w: std.stderr}, args[0], args[1:])
	}
	return cmd
}

// validate refuses what cannot be meant.
func (d *dead) validate(f *pflag.FlagSet, verb string, ids []string) error {
	does, known := deadVerbs[verb]
	listing := does == nil
	for _, rule := range []struct {
		broken bool
		text   string
	}{
		{!known, "invalid argument " + quote(verb) + ": want list, retry or drop"},
		{listing && len(ids) > 0, "list takes no operands: it prints all"},
		{listing && d.all, "the --all option is meaningful only with retry and drop"},
		{!listing && d.asJSON, "the --json option is meaningful only with list"},
		{!listing && d.all && len(ids) > 0, "IDs cannot be combined with --all"},
		{!listing && !d.all && len(ids) == 0, "missing operand: an ID, or --all"},
	} {
		if rule.broken {
			return errors.New(rule.text)
		}
	}
	return d.where.complete(f)
}

// run does what the command line says.
func (d *dead) run(ctx context.Context, stdout io.Writer, c *console, verb string, ids []string) error {
	e, err := d.where.connect(ctx)
	if err != nil {
		return err
	}
	defer e.Close()
	if verb == "list" {
		return d.list(stdout, e.ListAside(ctx))
	}
	if d.all {
		for a, err := range e.ListAside(ctx) {
			if err != nil {
				return d.where.failed(err)
			}
			ids = append(ids, a.ID)
		}
	}
	return d.where.each(ids, c, func(id string) error { return deadVerbs[verb](e, ctx, id) })
}

// list prints what was put aside.
func (d *dead) list(w io.Writer, all iter.Seq2[cluster.Aside, error]) error {
	enc, table, heads := json.NewEncoder(w), tabwriter.NewWriter(w, 0, 0, 2, ' ', 0), asideHeads
	enc.SetEscapeHTML(false)
	for a, err := range all {
		if err != nil {
			return d.where.failed(err)
		}
		if d.asJSON {
			if err = enc.Encode(a); err != nil {
				return err
			}
			continue
		}
		if heads != nil {
			writeRow(table, heads...)
			heads = nil
		}
		writeRow(table, asideCells(a)...)
	}
	if heads != nil && !d.asJSON {
		writeRow(table, "nothing was put aside")
	}
	return table.Flush()
}

// each does f for each operand, reports those that it failed for, and goes on with the
// others.
func (c *connection) each(operands []string, to *console, f func(string) error) error {
	var failed error
	for _, s := range operands {
		if err := f(s); err != nil {
			to.message(oneLine(c.failed(err).Error()))
			failed = errFailed
		}
	}
	return failed
}
