package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/stint-go/stint/lab/experiment"
	"github.com/stint-go/stint/lab/report"
	"github.com/stint-go/stint/lab/result"
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
	root.AddCommand(newList(), newRun(), newReport(), newCompare(), newAdvise())
	return root
}

func newList() *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List the experiments",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			for _, e := range experiments() {
				if _, err := fmt.Fprintf(cmd.OutOrStdout(), "%-8s %s\n", e.Name, e.Doc); err != nil {
					return &failure{err}
				}
			}
			return nil
		},
	}
}

func newRun() *cobra.Command {
	var s experiment.Session
	var procs []string
	var out string
	cmd := &cobra.Command{
		Use:     "run [flags] [EXPERIMENT...]",
		Short:   "Run experiments: those named, or all",
		Example: "  go run ./lab run --quick --out quick\n  go run ./lab run cpu io --procs 1,N --count 10 --models stint.Each,goroutines",
		Args:    cobra.ArbitraryArgs,
	}
	f := cmd.Flags()
	f.BoolVar(&s.Quick, "quick", false, "smaller sizes, all experiments in under three minutes: to see that it runs, not to conclude from")
	f.IntVar(&s.Count, "count", 0, "samples of each model, after one that does not count; 6 are the fewest that give an interval; 0: what the experiment finds right, between 6 and 20")
	f.DurationVar(&s.Time, "time", 0, "how long a sample of the fastest model of a case lasts, unless that of the slowest would last 20 times longer; 0: 5ms; some cases have a number of operations of their own")
	f.StringSliceVar(&s.Models, "models", nil, "measure these `NAMES` and what they are compared with, not all; sum takes no notice")
	f.StringSliceVar(&procs, "procs", nil, "measure at these `NUMBERS` of GOMAXPROCS, as 1,4 or 1,N where N is all; if not given at N, what is about one processor also at 1, and sum at 2")
	f.BoolVar(&s.Keep, "keep", false, "keep the temporary folder and say where it is")
	f.StringVar(&out, "out", "", "also write what was measured into `DIR`, which is made if need be, a file of JSON lines an experiment: for report and compare")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if s.Count < 0 {
			return fmt.Errorf("--count %d: must not be negative", s.Count)
		}
		if s.Time < 0 {
			return fmt.Errorf("--time %v: must not be negative", s.Time)
		}
		var err error
		if s.Procs, err = processors(procs); err != nil {
			return err
		}
		chosen, err := choose(args)
		if err != nil {
			return err
		}
		if out != "" {
			if err := os.MkdirAll(out, 0o777); err != nil { // not after an hour
				return &failure{err}
			}
		}
		if err := known(cmd.Context(), &s, chosen); err != nil {
			return err
		}
		s.Command = commandLine(cmd, args)
		clear := show(&s, cmd.ErrOrStderr())
		return perform(cmd.Context(), &s, chosen, func(r *result.Result) error {
			clear()
			err := report.Table(cmd.OutOrStdout(), r)
			switch {
			case out == "":
			case r.Unfinished != "" && result.Whole(out, r.Experiment):
				s.Logf("%s: not written: there is a result in %s that did not end early", r.Experiment, out)
			default:
				err = errors.Join(err, result.Save(out, r))
			}
			return err
		})
	}
	return cmd
}

// known returns an error if a model that was asked for is in none of the
// experiments: not after an hour.
func known(ctx context.Context, s *experiment.Session, chosen []experiment.Experiment) error {
	if len(s.Models) == 0 {
		return nil
	}
	names, err := s.Choices(ctx, chosen)
	if err != nil {
		return &failure{err}
	}
	for _, name := range s.Models {
		if len(names) > 0 && !slices.Contains(names, name) {
			return fmt.Errorf("no model %q: there are %s", name, strings.Join(names, ", "))
		}
	}
	return nil
}

// processors are the numbers of a list, ascending and each once.
func processors(list []string) ([]int, error) {
	var out []int
	for _, word := range list {
		n, err := strconv.Atoi(word)
		switch {
		case word == "N":
			n = runtime.GOMAXPROCS(0)
		case err != nil || n < 1:
			return nil, fmt.Errorf("--procs %s: want numbers from 1 on, or N", word)
		}
		out = append(out, n)
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

// commandLine is what to type for the same run: the experiments and the flags
// that were given, without the place of the output.
func commandLine(cmd *cobra.Command, args []string) string {
	words := append([]string{"go run ./lab run"}, args...)
	for _, name := range []string{"quick", "count", "time", "procs", "models"} {
		switch f := cmd.Flags().Lookup(name); {
		case !f.Changed || f.Value.String() == "[]":
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
// is there. A run that is cut short publishes what it has, and is the last one, as
// is one that cannot be published; one that fails is not.
func perform(ctx context.Context, s *experiment.Session, chosen []experiment.Experiment, publish func(*result.Result) error) error {
	var failed []error
	for _, e := range chosen {
		r, err := e.Run(ctx, s)
		if err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", e.Name, err))
		}
		if r != nil && len(r.Rows) > 0 {
			if err := publish(r); err != nil {
				failed = append(failed, err)
				break
			}
		}
		if ctx.Err() != nil {
			break
		}
	}
	if len(failed) > 0 {
		return &failure{errors.Join(failed...)}
	}
	return nil
}
