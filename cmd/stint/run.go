package main

import (
	"errors"
	"os"
	"slices"

	"github.com/spf13/cobra"
	"github.com/stint-go/stint/cmd/stint/internal/console"
	"github.com/stint-go/stint/cmd/stint/internal/process"
	"github.com/stint-go/stint/cmd/stint/internal/run"
)

var runHelp = help{
	use:   "run [flags] [COMMAND [ARG...]] [::: ITEM...]...",
	short: "Run a command for every input, at the concurrency that it takes",
	long: `Run COMMAND for every item, concurrently, and print the output of each job in
one piece, in the order of the items. Items come from the lists after ":::"
(several lists: their product, the last varying fastest), from -a, or from
standard input, one a line. Without COMMAND each item is a command for the shell.

In COMMAND and ARG, {} is the item, {.} the item without extension, {/} its last
element, {//} its directory, {/.} its last element without extension, {1} {2}
{1.} ... an item of several, {#} the job's number, {%} its slot. Without any, the
item is appended. No shell reads them. With -s COMMAND is a script for
STINT_SHELL, SHELL or sh, and the items are "$1" "$2"; placeholders work too.

Without -j, jobs start while the CPUs are idle, memory is left and throughput
rises. A job that exits with 75 says that too many run: it is tried again, later.
With --cluster, workers run the jobs that "stint work --run" has started.`,
	example: `  find . -name '*.wav' | stint run flac --best {}
  stint run convert {} -resize 50% small/{/} ::: *.jpg
  stint run -s 'gzip -dc {} | wc -l' ::: logs/*.gz
  stint run -a urls.txt --retries 3 --timeout 30s --joblog log.tsv curl -sfO {}
  stint run --cluster nats://first:4222 ./simulate --seed {} ::: $(seq 10000)`,
	exit: `  0    every job succeeded
  1    some failed: a message says how many, and which was the first
  2    wrong command line
  126  COMMAND cannot be executed (127: was not found); no job has started
  130  interrupted (143: terminated, 129: hung up, 141: the reader of the output
       has gone). A second interrupt kills the jobs.
  With --halt and fail=N, the status of the job that ended the run.`,
}

func newRun(std console.Streams) *cobra.Command {
	cmd := runHelp.command()
	cmd.Args = cobra.ArbitraryArgs
	cmd.ValidArgsFunction = nil // names of files
	var o run.Options
	addRunFlags(cmd, &o)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		o.Command, o.Lists = operands(args)
		err := validateRun(cmd.Flags(), &o)
		var r *run.Runner
		if err == nil {
			r, err = run.New(&o, std)
		}
		if err != nil {
			return usage(cmd, err)
		}
		return r.Run(cmd.Context(), watcher())
	}
	return cmd
}

// operands splits the operands into the command and the lists of items.
func operands(args []string) (command []string, lists [][]string) {
	for i := 0; ; {
		n := slices.Index(args[i:], ":::")
		part := args[i:]
		if n >= 0 {
			part = args[i : i+n]
		}
		if i == 0 {
			command = part
		} else {
			lists = append(lists, part)
		}
		if n < 0 {
			return command, lists
		}
		i += n + 1
	}
}

// watcher returns the command line of newWatch, for a process of its own.
func watcher() []string {
	path, err := os.Executable()
	if err != nil {
		return nil
	}
	return []string{path, "stint", "watch"}
}

// newWatch returns the hidden command that kills jobs when the process that runs them is
// killed.
func newWatch(std console.Streams) *cobra.Command {
	return &cobra.Command{
		Use:    "watch",
		Short:  "Kill the jobs of a killed process; stint starts it by itself",
		Hidden: true,
		Args:   cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if console.IsTerminal(std.Stdin) {
				return errors.New("stint starts this command by itself")
			}
			process.Watch(std.Stdin)
			return nil
		},
	}
}
