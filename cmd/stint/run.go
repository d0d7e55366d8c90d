package main

import (
	"errors"
	"os"
	"os/signal"
	"slices"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/stint-go/stint/cmd/stint/internal/console"
	"github.com/stint-go/stint/cmd/stint/internal/jobserver"
	"github.com/stint-go/stint/cmd/stint/internal/process"
	"github.com/stint-go/stint/cmd/stint/internal/run"
)

var runHelp = help{
	use:   "run [flags] [COMMAND [ARG...]] [::: ITEM...]...",
	short: "Run a command for each input, concurrently, with an adaptive number of jobs",
	long: `Run COMMAND once for each item. Jobs run concurrently. The output of each job is
printed in one piece, in the order of the items. Items come from the lists after
":::", from the files of -a, or from standard input, one per line. With several
lists a job runs for every combination, and the last list varies fastest.
Without COMMAND, each item is a command for the shell.

Placeholders in COMMAND and ARG are replaced:
  {}    item                        {1}   first of several items
  {.}   item without extension      {-1}  last of several items
  {/}   last path element           {1.}  {.} of the first item, and so on
  {//}  directory                   {#}   number of the job
  {/.}  {/} without extension       {%}   slot of the job, 1 to the limit

Without a placeholder the item is appended. Arguments reach COMMAND as they are:
no shell reads them. With -s, COMMAND is a script for STINT_SHELL, SHELL or sh,
and the items are "$1", "$2" and so on. The placeholders of the script are
replaced by quoted text, and nothing is appended. The shell is bash if the
script names a function that bash has exported.

Without -j, as many jobs start as there are CPUs. More jobs start while CPUs are
idle, memory is left and throughput rises. Under "make -j", put a + at the start
of the recipe: then as many jobs run as make allows. Exit status 75 of a job
means overload: the job is retried, and fewer jobs run. When a job has ended,
processes that it has left behind are terminated.

The signal USR1 adds one to the number of jobs, and USR2 subtracts one. With
"-j FILE" the number is read again when FILE changes. At 0, running jobs finish,
and no job starts.

With --cluster, workers that were started with "stint work --run" run the jobs.`,
	example: `  find . -name '*.wav' | stint run flac --best {}
  stint run convert {} -resize 50% small/{/} ::: *.jpg
  stint run -s 'gzip -dc {} | wc -l' ::: logs/*.gz
  stint run -a urls.txt --retries 3 --timeout 30s --joblog log.tsv curl -sfO {}
  stint run --cluster nats://first:4222 ./simulate --seed {} ::: $(seq 10000)`,
	exit: `  0    every job succeeded
  1    a job failed, or the run could not go on; a message says why
  2    wrong command line
  126  COMMAND cannot be executed (127: not found); no job has started
  130  interrupted (143: terminated, 129: hung up, 131: quit, 141: the reader of
       the output has gone). The first signal terminates the jobs, the second
       kills them.
  When --halt with fail=N ends the run, the exit status is that of the job that
  ended it. When --halt with success=N ends the run, it is 0.

A standard stream that is closed counts as /dev/null.`,
}

func newRun(std console.Streams) *cobra.Command {
	cmd := runHelp.command()
	cmd.Args = cobra.ArbitraryArgs
	cmd.ValidArgsFunction = nil // names of files
	var o run.Options
	addRunFlags(cmd, &o)
	cmd.SetFlagErrorFunc(explain)
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
	var tokens bool
	var dir string
	cmd := &cobra.Command{
		Use:    "watch MARK",
		Short:  "Kill the jobs of a killed process; stint starts it by itself",
		Hidden: true,
		Args:   cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if console.IsTerminal(std.Stdin) {
				return errors.New("stint starts this command by itself")
			}
			var keeper process.Keeper
			if tokens {
				pool, err := jobserver.Open(os.Getenv("MAKEFLAGS"))
				if err != nil {
					return err
				}
				signal.Ignore(syscall.SIGPIPE) // of a run that was killed
				keeper = jobserver.NewKeeper(pool, os.Stdout)
			}
			process.Watch(std.Stdin, args[0], keeper)
			if dir != "" {
				jobserver.Remove(dir)
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&tokens, "tokens", false, "keep the tokens of the jobserver in MAKEFLAGS")
	cmd.Flags().StringVar(&dir, "remove", "", "remove the jobserver in `DIR`")
	return cmd
}
