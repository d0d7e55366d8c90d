package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"runtime/debug"
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

// A failure is an error of an experiment, not of the command line.
type failure struct{ err error }

func (f *failure) Error() string { return f.err.Error() }
func (f *failure) Unwrap() error { return f.err }

// failed returns a failure, or nil if err is nil.
func failed(err error) error {
	if err == nil {
		return nil
	}
	return &failure{err}
}

// run executes a command line and returns the exit status. It stops early when
// ctx ends or the process is interrupted. A second interrupt kills the process.
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
		Short:         "Measure every claim about stint on this machine",
		Args:          cobra.NoArgs,
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetOut(stdout)
	root.SetErr(stderr)
	root.CompletionOptions.DisableDefaultCmd = true
	root.AddCommand(newList(), newRun(), newReport(), newSummarize(), newCompare(), newAdvise())
	return root
}

func newList() *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List the experiments",
		Args:  cobra.NoArgs,
		Run: func(cmd *cobra.Command, _ []string) {
			for _, e := range experiments() {
				fmt.Fprintf(cmd.OutOrStdout(), "%-8s %s\n", e.Name, e.Doc)
			}
		},
	}
}

func newRun() *cobra.Command {
	var s experiment.Session
	var procs []string
	var out string
	cmd := &cobra.Command{
		Use:     "run [flags] [EXPERIMENT...]",
		Short:   "Run the named experiments, or all",
		Example: "  go run ./lab run --quick --out quick\n  go run ./lab run cpu io --procs 1,N --count 10 --models stint.Each,goroutines",
		Args:    cobra.ArbitraryArgs,
	}
	f := cmd.Flags()
	f.BoolVar(&s.Quick, "quick", false, "use smaller sizes: all experiments take two to three minutes; shows that everything runs, not for conclusions")
	f.IntVar(&s.Count, "count", 0, "samples of each model, after a warm-up; an interval needs 6; 0: chosen by the experiment, 6 to 20")
	f.DurationVar(&s.Time, "time", 0, "duration of a sample of the case's fastest model, less if the slowest would take 20 times longer; 0: 5ms; cases with a fixed number of operations ignore it")
	f.StringSliceVar(&procs, "procs", nil, "measure at these `NUMBERS` of GOMAXPROCS, such as 1,4 or 1,N where N is all; default N, single-processor cases also at 1, and sum at 2")
	f.IntVar(&s.Workers, "workers", 0, "goroutines of the articles' fans and pools; 0: half of the CPUs as in the article, and at least 4 for items that wait")
	f.StringSliceVar(&s.Cases, "cases", nil, "measure only cases whose names contain one of these `PARTS`")
	f.StringSliceVar(&s.Models, "models", nil, "measure only these `NAMES` and the models they are compared with; sum ignores it")
	f.BoolVar(&s.Keep, "keep", false, "keep the temporary folder and print its name")
	f.StringVar(&out, "out", "", "write a file of JSON lines per experiment into `DIR`, created if missing, for report, summarize and compare")
	f.StringVar(&s.Profiles, "cpuprofile", "", "write a CPU profile of the first counted sample of each model to `DIR`/EXPERIMENT/CASE/MODEL.pprof; with --time 1s it has about a hundred readings a CPU; without the models that are other processes")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		for _, f := range []struct {
			name string
			bad  bool
		}{{"count", s.Count < 0}, {"workers", s.Workers < 0}, {"time", s.Time < 0}} {
			if f.bad {
				return fmt.Errorf("--%s %s: must not be negative", f.name, cmd.Flag(f.name).Value)
			}
		}
		var err error
		if s.Procs, err = processors(procs); err != nil {
			return err
		}
		chosen, err := choose(args)
		if err != nil {
			return err
		}
		for _, dir := range []string{out, s.Profiles} { // fail before the measurements
			if dir != "" {
				err = cmp.Or(err, os.MkdirAll(dir, 0o777))
			}
		}
		if err != nil {
			return &failure{err}
		}
		s.Command = commandLine(cmd, args)
		clear := show(&s, cmd.ErrOrStderr())
		measured := false
		err = perform(cmd.Context(), &s, chosen, func(r *result.Result) error {
			measured = true
			clear()
			return errors.Join(report.Table(cmd.OutOrStdout(), r), save(&s, out, r))
		})
		switch {
		case err != nil:
			return &failure{err}
		case !measured && len(s.Cases) > 0:
			return fmt.Errorf("--cases %s: no case that can be measured here has such a name", strings.Join(s.Cases, ","))
		}
		for _, name := range s.Models {
			if len(s.Known) > 0 && !slices.Contains(s.Known, name) { // sum knows none: it ignores them
				return fmt.Errorf("no model %q: there are %s", name, strings.Join(s.Known, ", "))
			}
		}
		return nil
	}
	return cmd
}

// save writes a result into the directory dir, if that is set. It does not
// replace a complete result with an unfinished one.
func save(s *experiment.Session, dir string, r *result.Result) error {
	if dir == "" {
		return nil
	}
	if r.Unfinished != "" && result.Whole(dir, r.Experiment) {
		s.Logf("%s: not written: %s has a result that did not end early", r.Experiment, dir)
		return nil
	}
	return result.Save(dir, r)
}

// processors parses a list of numbers, sorted and without duplicates.
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

// commandLine returns the command that repeats the run: the experiments and the
// given flags, except those that change no figure.
func commandLine(cmd *cobra.Command, args []string) string {
	words := append([]string{"go run ./lab run"}, args...)
	for _, name := range []string{"quick", "count", "time", "procs", "workers", "cases", "models"} {
		switch f := cmd.Flags().Lookup(name); {
		case !f.Changed || f.Value.String() == "[]":
		case f.Value.Type() == "bool":
			words = append(words, "--"+name)
		default:
			words = append(words, "--"+name, strings.Trim(f.Value.String(), "[]"))
		}
	}
	return strings.Join(words, " ")
}

// perform runs the experiments and publishes each result at once. It stops
// after an interrupt or a failed publication. A failed experiment does not stop
// it.
func perform(ctx context.Context, s *experiment.Session, chosen []experiment.Experiment, publish func(*result.Result) error) error {
	version := commit(ctx)
	var errs []error
	for _, e := range chosen {
		r, err := e.Run(ctx, s)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", e.Name, err))
		}
		if r != nil && len(r.Rows) > 0 {
			r.Commit = version
			if err := publish(r); err != nil {
				return errors.Join(append(errs, err)...)
			}
		}
		if ctx.Err() != nil {
			break
		}
	}
	return errors.Join(errs...)
}

// commit returns the version of this program: of the module, or the commit of the
// repository that it is built in, which "go run" does not note. It is empty if not known.
func commit(ctx context.Context) string {
	info, _ := debug.ReadBuildInfo()
	if info != nil && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	out, err := exec.CommandContext(ctx, "git", "describe", "--always", "--dirty", "--abbrev=12", "--exclude=*").Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}
