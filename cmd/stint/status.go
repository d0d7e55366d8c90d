package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"

	"github.com/spf13/cobra"
	"github.com/stint-go/stint/cluster"
)

const statusLong = `Print what a server and its workers do: the runs that have not ended and what each
waits for, what is queued and in flight under each name of a task, the workers
that answered within half a second, and the tasks that were put aside since
workers died of them. These have items: to an observer they are not shown ("aside"
of --json is null).

A task in flight has been given to a worker; redelivered are those in flight that
another worker had before. A limit of - is none. Of a worker, left are the calls
that did not return after their timeout.

To see whether the server stores what it is sent, status sends it something,
which is removed after a second. If it does not, as when its disk is full, status
says why, also in "store" of --json, and its exit status is 1.`

const statusExample = `  stint status --cluster nats://127.0.0.1:4222
  stint status --json | jq '.workers | length'`

const statusExit = `  0    printed
  1    the server stores nothing or could not be reached, or the output could not be written
  2    wrong command line`

func newStatus() *cobra.Command {
	var where connection
	var asJSON bool
	cmd := &cobra.Command{
		Use:         "status --cluster URL [flags]",
		Short:       "Print the runs, tasks and workers of a server",
		Long:        statusLong,
		Example:     statusExample,
		Annotations: map[string]string{exitStatus: statusExit},
		Args:        cobra.NoArgs,

		ValidArgsFunction: cobra.NoFileCompletions,
	}
	f := where.addTo(cmd)
	f.BoolVar(&asJSON, "json", false, "print a JSON object with all of it")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		e, err := where.open(cmd)
		if err != nil {
			return err
		}
		defer e.Close()
		status, err := e.Status(cmd.Context())
		if err != nil {
			return where.failed(err)
		}
		if asJSON {
			enc := json.NewEncoder(cmd.OutOrStdout())
			enc.SetEscapeHTML(false)
			enc.SetIndent("", "  ")
			err = enc.Encode(status)
		} else {
			err = printStatus(cmd.OutOrStdout(), status)
		}
		if err == nil && status.Store != "" {
			err = &failure{where.public() + " stores nothing: " + oneLine(status.Store)}
		}
		return err
	}
	return cmd
}

// printStatus writes a table for each part of s.
func printStatus(w io.Writer, s *cluster.Status) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	row := func(cells ...any) { writeRow(t, cells...) }
	part := func(n int, none string, heads ...any) {
		if n == 0 {
			heads = []any{none}
		}
		row(heads...)
	}

	part(len(s.Runs), "no runs", "RUN", "TASK", "STARTED", "LIMIT", "WAITING")
	for _, r := range s.Runs {
		row(r.Run, r.Task, r.Started.Local().Format(time.DateTime), bound(r.Limit), r.Waiting)
	}
	row()
	part(len(s.Tasks), "no tasks", "TASK", "QUEUED", "IN FLIGHT", "REDELIVERED", "LIMIT")
	for _, k := range s.Tasks {
		row(k.Name, k.Queued, k.InFlight, k.Redelivered, bound(k.Limit))
	}
	row()
	part(len(s.Workers), "no workers", "WORKER", "HOST", "PID", "LIMIT", "RUNNING", "LEFT", "DONE", "TASKS")
	for _, k := range s.Workers {
		row(k.ID, k.Host, k.PID, bound(k.Limit), k.Running, k.Abandoned, k.Done, strings.Join(k.Tasks, " "))
	}
	switch {
	case s.Aside == nil:
		row()
		row("what was put aside is not shown to this user")
	case len(s.Aside) > 0:
		row()
		row(asideHeads...)
	}
	for _, a := range s.Aside {
		row(asideCells(a)...)
	}
	return t.Flush()
}

// asideHeads and asideCells are the table of what was put aside.
var asideHeads = []any{"PUT ASIDE", "TASK", "TIME", "REASON"}

func asideCells(a cluster.Aside) []any {
	return []any{a.ID, a.Task, a.Time.Local().Format(time.DateTime), a.Reason}
}

// writeRow writes the cells of one line of a table.
func writeRow(t io.Writer, cells ...any) {
	for i, c := range cells {
		if i > 0 {
			fmt.Fprint(t, "\t")
		}
		fmt.Fprint(t, oneLine(fmt.Sprint(c)))
	}
	fmt.Fprintln(t)
}

// bound writes a limit, of which 0 is none.
func bound(n int) string {
	if n == 0 {
		return "-"
	}
	return strconv.Itoa(n)
}

// oneLine keeps what another machine says from looking like more than a cell.
func oneLine(s string) string {
	if strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return strconv.Quote(s)
	}
	return s
}
