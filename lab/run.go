package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/stint-go/stint/lab/experiment"
	"github.com/stint-go/stint/lab/report"
)

// Exit statuses.
const (
	statusOK          = 0
	statusFailed      = 1
	statusUsage       = 2
	statusInterrupted = 130
)

// failure is an error of an experiment, as opposed to one of the command line.
type failure struct{ err error }

func (f *failure) Error() string { return f.err.Error() }
func (f *failure) Unwrap() error { return f.err }

// run executes one command line and returns the exit status. It ends early
// when ctx ends or the process is interrupted; a second interrupt kills it.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop)

	root := newRoot(stdout, stderr)
	root.SetArgs(append([]string{}, args...)) // nil would mean os.Args
	err := root.ExecuteContext(ctx)
	var failed *failure
	switch {
	case err == nil:
		return statusOK
	case ctx.Err() != nil && errors.Is(err, ctx.Err()):
		fmt.Fprintln(stderr, "lab: interrupted")
		return statusInterrupted
	case errors.As(err, &failed):
		fmt.Fprintf(stderr, "lab: %v\n", err)
		return statusFailed
	}
	fmt.Fprintf(stderr, "lab: %v\nTry 'go run ./lab --help' for more information.\n", err)
	return statusUsage
}

func newRoot(stdout, stderr io.Writer) *cobra.Command {
	root := &cobra.Command{
		Use:           "lab",
		Short:         "Measure what is claimed about stint, on this machine",
		Args:          cobra.NoArgs,
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetOut(stdout)
	root.SetErr(stderr)
	root.CompletionOptions.DisableDefaultCmd = true
	root.AddCommand(newList(), newRun(), newReport())
	return root
}

func newList() *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List the experiments",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			for _, e := range experiments() {
				if _, err := fmt.Fprintf(cmd.OutOrStdout(), "%-8s %s\n", e.Name(), e.Doc()); err != nil {
					return &failure{err}
				}
			}
			return nil
		},
	}
}

func newRun() *cobra.Command {
	var s experiment.Session
	var out string
	cmd := &cobra.Command{
		Use:     "run [flags] [EXPERIMENT...]",
		Short:   "Run experiments: those named, or all",
		Example: "  go run ./lab run sleepers tiny loops sort\n  go run ./lab run sum --quick --count 10 --out results",
		Args:    cobra.ArbitraryArgs,
	}
	f := cmd.Flags()
	f.BoolVar(&s.Quick, "quick", false, "a tenth of the work: to see that it runs, not to conclude from")
	f.IntVar(&s.Count, "count", 0, "samples of each model, after one that does not count; 6 are the fewest that give an interval; 0: 20, but 12 of loops, sha and hops, 6 or 12 of scan, 12 or 6 of sort, 10 or 6 of cpu, 6 of io and find and 7 of sleepers, and 6 with --quick of all but sum")
	f.StringSliceVar(&s.Models, "models", nil, "measure these `NAMES` and what they are compared with, not all; sum takes no notice")
	f.IntVar(&s.Processors, "procs", 0, "run with that GOMAXPROCS; 0: as it is, but 2 for sum, whose claims are about 2")
	f.BoolVar(&s.Keep, "keep", false, "keep the temporary folder and say where it is")
	f.StringVar(&out, "out", "", "also write benchmark and JSON files into `DIR`, which is made if need be")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if s.Count < 0 {
			return fmt.Errorf("--count %d: must not be negative", s.Count)
		}
		if s.Processors < 0 {
			return fmt.Errorf("--procs %d: must not be negative", s.Processors)
		}
		chosen, err := choose(args)
		if err != nil {
			return err
		}
		s.Log = cmd.ErrOrStderr()
		s.Command = commandLine(cmd, args)
		return perform(cmd.Context(), &s, chosen, cmd.OutOrStdout(), out)
	}
	return cmd
}

// commandLine is what to type for the same run: the experiments and the flags
// that were given, without the place of the output.
func commandLine(cmd *cobra.Command, args []string) string {
	words := append([]string{"go run ./lab run"}, args...)
	for _, name := range []string{"quick", "count", "procs", "models"} {
		switch f := cmd.Flags().Lookup(name); {
		case !f.Changed:
		case f.Value.Type() == "bool":
			words = append(words, "--"+name)
		case f.Value.Type() == "stringSlice":
			words = append(words, "--"+name, strings.Trim(f.Value.String(), "[]"))
		default:
			words = append(words, "--"+name, f.Value.String())
		}
	}
	return strings.Join(words, " ")
}

// perform runs the experiments and publishes the result of each as soon as it
// is there. A run that is cut short publishes what it has.
func perform(ctx context.Context, s *experiment.Session, chosen []experiment.Experiment, stdout io.Writer, out string) error {
	for _, e := range chosen {
		r, err := e.Run(ctx, s)
		if r != nil && len(r.Rows) > 0 {
			err = errors.Join(err, report.Table(stdout, r))
			if out != "" {
				err = errors.Join(err, report.Files(out, r))
			}
		}
		if err != nil {
			return &failure{fmt.Errorf("%s: %w", e.Name(), err)}
		}
	}
	return s.Unknown()
}
