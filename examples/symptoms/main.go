// Command symptoms runs the programs of docs/symptoms.md: for each symptom a program that has
// it, and the same program after a change.
//
//	go run ./examples/symptoms [flags] SYMPTOM [before|after]
//
// SYMPTOM is channels, workers, memory, latency, idle or limit. Without before or after both
// are run. Printed are metrics of package runtime/metrics, results, and the pools and limiters
// half way, as package debug shows them. The flags write profiles for go tool pprof and a
// trace for go tool trace.
//
// The exit status is 0 if all went well, 1 if not, and 2 for a wrong command line.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime/pprof"
	"runtime/trace"
	"slices"
	"text/tabwriter"
)

func main() {
	switch err := run(context.Background(), os.Args[1:], os.Stdout, os.Stderr); {
	case errors.Is(err, errUsage):
		os.Exit(2)
	case err != nil:
		fmt.Fprintln(os.Stderr, "symptoms:", err)
		os.Exit(1)
	}
}

// errUsage is returned after the error has been printed to stderr.
var errUsage = errors.New("wrong command line")

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	flags := flag.NewFlagSet("symptoms [flags] SYMPTOM [before|after]", flag.ContinueOnError)
	flags.SetOutput(stderr)
	cpu := flags.String("cpuprofile", "", "write a CPU profile to `file`")
	events := flags.String("trace", "", "write an execution trace to `file`")
	goroutines := flags.String("goroutines", "", "write a goroutine profile, taken half way, to `file`")
	tasks := flags.Int("n", 0, "run `n` tasks (default: a number for each symptom)")
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return nil
	case err != nil:
		return errUsage
	}
	i := slices.IndexFunc(symptoms, func(s symptom) bool { return s.name == flags.Arg(0) })
	which := flags.Arg(1)
	if i < 0 || which != "" && which != "before" && which != "after" || flags.NArg() > 2 || *tasks < 0 {
		fmt.Fprintln(stderr, "want channels, workers, memory, latency, idle or limit, and before, after or neither")
		flags.Usage()
		return errUsage
	}

	s := symptoms[i]
	if *tasks > 0 {
		s.n = *tasks
	}
	return profiled(*cpu, pprof.StartCPUProfile, pprof.StopCPUProfile, func() error {
		return profiled(*events, trace.Start, trace.Stop, func() error {
			return s.print(ctx, stdout, which, *goroutines)
		})
	})
}

// profiled runs f between start and stop, if there is a file to write to.
func profiled(name string, start func(io.Writer) error, stop func(), f func() error) error {
	if name == "" {
		return f()
	}
	file, err := os.Create(name)
	if err != nil {
		return err
	}
	if err = start(file); err == nil {
		err = f()
		stop()
	}
	return errors.Join(err, file.Close())
}

// print runs the programs and prints a column for each.
func (s symptom) print(ctx context.Context, w io.Writer, which, goroutines string) error {
	columns, states := []string{}, ""
	var figures [][]figure
	for _, p := range []struct {
		name string
		run  program
	}{{"before", s.before}, {"after", s.after}} {
		if which != "" && which != p.name {
			continue
		}
		t := &trial{n: s.n, goroutines: goroutines}
		if err := t.measure(ctx, p.run); err != nil {
			return err
		}
		columns, figures = append(columns, p.name), append(figures, t.figures)
		if t.shown != "" {
			states += fmt.Sprintf("\n%s, half way:\n%s", p.name, t.shown)
		}
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	row := func(name string, cell func(column int) any) {
		fmt.Fprintf(table, "%-42s\t", name)
		for i := range columns {
			fmt.Fprintf(table, "%v\t", cell(i))
		}
		fmt.Fprintln(table)
	}
	row(fmt.Sprintf("%s, %d tasks", s.name, s.n), func(i int) any { return columns[i] })
	for k, f := range figures[0] {
		row(f.name, func(i int) any { return figures[i][k].value })
	}
	table.Flush()
	_, err := io.WriteString(w, states)
	return err
}
