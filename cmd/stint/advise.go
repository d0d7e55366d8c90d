package main

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"github.com/stint-go/stint/advise"
	"github.com/stint-go/stint/cmd/stint/internal/console"
	"github.com/stint-go/stint/cmd/stint/internal/run"
)

var adviseHelp = help{
	use:   "advise [flags] -- COMMAND [ARG...] [::: ITEM...]...",
	short: "Measure whether a command should run concurrently, and how many at once",
	long: `Measure whether COMMAND should run concurrently. advise runs COMMAND for items,
alone and concurrently, many times, until the answer is clear. It prints whether
COMMAND computes or waits, whether concurrency pays, the throughput at each
limit, and the lines to write. The output of COMMAND is discarded. When COMMAND
fails, and after Ctrl-C, advise prints the answer so far, if there is one.

COMMAND must be repeatable, as it runs several times for each item. For mv or
rm use --once.

Items and placeholders are those of "stint run": items are given after ":::", by
--arg-file, or on standard input. With --n N the items are the numbers 0 to N-1,
and they are not appended to a COMMAND without a placeholder. Such a COMMAND is
measured as with --n 100 when standard input is a terminal or /dev/null. From a
pipe advise reads items until its end.`,
	example: `  stint advise -- sleep 0.1
  stint advise --n 50 -- curl -sfo /dev/null http://localhost:8080/{}
  stint advise -- gzip -9c {} ::: *.wav
  stint advise --once -a urls.txt -- curl -sfO {}`,
	exit: `  0    the answer is printed
  1    COMMAND has failed, or items could not be read; a message says why
  2    wrong command line
  126  COMMAND cannot be executed (127: not found)
  130  interrupted (143: terminated, 129: hung up, 131: quit), after the answer
       so far`,
}

func newAdvise(std console.Streams) *cobra.Command {
	cmd := adviseHelp.command()
	cmd.Args = cobra.ArbitraryArgs
	cmd.ValidArgsFunction = nil // names of files
	o, a := run.Options{Progress: "auto"}, run.AdviseOptions{Options: advise.Options{Budget: time.Minute}}
	asJSON, f := false, cmd.Flags()
	addItemFlags(f, &o)
	f.IntVar(&a.N, "n", 0, "the items are 0 to `N`-1")
	addDuration(f, &a.Budget, "budget", "measure for a `duration` at most: seconds, or 2m30s; the default is 1m")
	f.IntVar(&a.Most, "most", 0, "run up to `N` commands at once; the default is 256, or the number of CPUs if that is more")
	f.BoolVar(&a.Once, "once", false, "run COMMAND at most once for each item; the answer is less sure")
	f.BoolVar(&asJSON, "json", false, "print the answer as a JSON object")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		o.Command, o.Lists = operands(args)
		err := validateRun(f, &o)
		if err == nil {
			err = refuse(
				rule{f.Changed("n") && (a.N < 1 || a.N > 1e6), "the --n option needs a number from 1 to 1000000"},
				rule{a.N > 0 && len(o.Lists)+len(o.Files) > 0, "--n counts items: it does not go with ::: and --arg-file"},
				rule{a.N > 0 && len(o.Command) == 0, "the --n option needs a COMMAND"},
				rule{a.Budget == 0, "the --budget option needs more than 0"},
				rule{a.Most < 0 || a.Most == 1, "the --most option needs a number of 2 or more"},
			)
		}
		var r *run.Runner
		if err == nil {
			r, err = run.New(&o, std)
		}
		if err != nil {
			return usage(cmd, err)
		}
		report, err := r.Advise(cmd.Context(), a, watcher())
		switch {
		case report == nil:
		case asJSON:
			_ = json.NewEncoder(cmd.OutOrStdout()).Encode(report) // which keeps the error
		default:
			fmt.Fprint(cmd.OutOrStdout(), report)
		}
		return err
	}
	return cmd
}
