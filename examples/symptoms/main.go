// Command symptoms runs the programs of docs/symptoms.md: for each symptom a program that has
// it, and the same program after a change.
//
//	go run ./examples/symptoms [flags] SYMPTOM [before|after]
//
// SYMPTOM is channels, workers, memory, latency, idle or limit. Of both programs, or of one, it
// prints results, metrics of package runtime/metrics, and the pools and limiters half way, as
// package debug shows them. The flags write profiles for go tool pprof and go tool trace.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime/pprof"
	"runtime/trace"
	"slices"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "symptoms:", err)
		os.Exit(1)
	}
}

func run(args []string, w io.Writer) error {
	flags := flag.NewFlagSet("symptoms [flags] SYMPTOM [before|after]", flag.ExitOnError)
	cpu := flags.String("cpuprofile", "", "write a CPU profile to `file`")
	events := flags.String("trace", "", "write an execution trace to `file`")
	goroutines := flags.String("goroutines", "", "write a profile of the goroutines half way to `file`")
	flags.Parse(args)
	i := slices.IndexFunc(symptoms, func(s symptom) bool { return s.name == flags.Arg(0) })
	which := flags.Arg(1)
	if i < 0 || which != "" && which != "before" && which != "after" {
		return errors.New("want channels, workers, memory, latency, idle or limit, and before, after or neither")
	}
	s := symptoms[i]
	return toFile(*cpu, pprof.StartCPUProfile, pprof.StopCPUProfile, func() error {
		return toFile(*events, trace.Start, trace.Stop, func() (err error) {
			if which != "after" {
				err = s.print(w, "before", s.before, *goroutines)
			}
			if which != "before" {
				err = errors.Join(err, s.print(w, "after", s.after, *goroutines))
			}
			return err
		})
	})
}

// print runs a program and prints what was measured.
func (s symptom) print(w io.Writer, name string, p program, goroutines string) error {
	t := &trial{n: s.n}
	start := func(w io.Writer) error { t.goroutines = w; return nil }
	err := toFile(goroutines, start, func() {}, func() error { return t.measure(p) })
	fmt.Fprintf(w, "%s, %s, %d tasks\n", s.name, name, s.n)
	for _, f := range t.figures {
		fmt.Fprintf(w, "  %-40s%10v\n", f.name, f.value)
	}
	_, unwritten := fmt.Fprintln(w, t.shown)
	return errors.Join(err, unwritten)
}

// toFile calls f between start and stop of a profile. Without a name it only calls f.
func toFile(name string, start func(io.Writer) error, stop func(), f func() error) error {
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
