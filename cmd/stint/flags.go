package main

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/stint-go/stint"
)

// reporting is how much -c says. The last of its flags on the command line
// counts.
type reporting int

const (
	reportAll reporting = iota
	reportQuiet
	reportStatus
	reportWarn
)

// mode is the last of --binary, --text and --tag, of which --tag implies
// binary.
type mode int

const (
	modeUnset mode = iota
	modeBinary
	modeText
)

// options are the flags of sum, as given.
type options struct {
	algorithm     string
	given         bool // -a was
	tag           bool
	zero          bool
	mode          mode
	json          bool
	check         bool
	reporting     reporting
	strict        bool
	ignoreMissing bool
	filesFrom     string
	null          bool
	output        string
	jobs          string
	follow        bool
	progress      string
	connection
}

// choice is a flag without a value that sets target, a variable that several
// flags share, to value.
type choice[T comparable] struct {
	target *T
	value  T
}

func (c choice[T]) Type() string   { return "bool" }
func (c choice[T]) String() string { return "false" }

func (c choice[T]) Set(s string) error {
	on, err := strconv.ParseBool(s)
	var unset T
	switch {
	case on:
		*c.target = c.value
	case *c.target == c.value:
		*c.target = unset
	}
	return err
}

// tagChoice is --tag, which also ends the effect of an earlier --text.
type tagChoice struct{ o *options }

func (c tagChoice) Type() string   { return "bool" }
func (c tagChoice) String() string { return "false" }

func (c tagChoice) Set(s string) (err error) {
	if c.o.tag, err = strconv.ParseBool(s); c.o.tag {
		c.o.mode = modeBinary
	}
	return err
}

func (o *options) addFlags(f *pflag.FlagSet) {
	f.SortFlags = false
	alone := func(v pflag.Value, name, short, usage string) {
		f.VarPF(v, name, short, usage).NoOptDefVal = "true"
	}
	f.StringVarP(&o.algorithm, "algorithm", "a", "sha256", "digest `NAME`: "+strings.Join(algorithmNames(), ", "))
	f.StringVarP(&o.jobs, "jobs", "j", "auto", "read `N` files at a time; auto: found while it runs")
	f.BoolVar(&o.follow, "follow", false, "follow symbolic links in directories too")
	f.StringVar(&o.filesFrom, "files-from", "", "read the PATHs from `FILE`, one a line; -: standard input")
	f.BoolVarP(&o.null, "null", "0", false, "the PATHs of --files-from end in NUL, not newline")
	f.StringVarP(&o.output, "output", "o", "", "write to `FILE`, which appears when it is complete; -: standard output")
	f.StringVar(&o.progress, "progress", "auto", "progress on standard error: `WHEN` is auto (on a terminal), always, never")
	alone(tagChoice{o}, "tag", "", "print a BSD-style line: SHA256 (name) = digest")
	f.BoolVarP(&o.zero, "zero", "z", false, "end each output line with NUL, and do not escape names")
	f.BoolVar(&o.json, "json", false, "print a JSON object a line, with path, algorithm, digest and size, or error")
	alone(choice[mode]{&o.mode, modeBinary}, "binary", "b", "mark names with *, as for a file read in binary mode")
	alone(choice[mode]{&o.mode, modeText}, "text", "t", "mark names with a space (default); both read the same bytes")
	f.BoolVarP(&o.check, "check", "c", false, "check the digests that the PATHs list")
	f.BoolVar(&o.ignoreMissing, "ignore-missing", false, "with -c: neither report nor fail for missing files")
	alone(choice[reporting]{&o.reporting, reportQuiet}, "quiet", "", "with -c: print no OK lines")
	alone(choice[reporting]{&o.reporting, reportStatus}, "status", "", "with -c: print nothing, the exit status says it")
	f.BoolVar(&o.strict, "strict", false, "with -c: fail for improperly formatted lines")
	alone(choice[reporting]{&o.reporting, reportWarn}, "warn", "w", "with -c: say which lines are improperly formatted")
	o.connection.addFlags(f, "have the files read by the workers of the server at `URL`")
}

// where refuses a server that cannot be meant, and what is only for one.
func (o *options) where(f *pflag.FlagSet) error {
	if f.Changed("cluster") {
		return o.connection.validate(f)
	}
	for _, name := range []string{"credentials", "tls-ca"} {
		if f.Changed(name) {
			return errors.New("the --" + name + " option is meaningful only with --cluster")
		}
	}
	return nil
}

func complete(cmd *cobra.Command, flag string, values ...string) {
	f := cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)
	if err := cmd.RegisterFlagCompletionFunc(flag, f); err != nil {
		panic(err) // the flag does not exist
	}
}

// refuseEmpty refuses a value that is given and empty, which is what an unset variable
// in a script gives.
func refuseEmpty(f *pflag.FlagSet, names ...string) error {
	for _, name := range names {
		if f.Changed(name) && f.Lookup(name).Value.String() == "" {
			return errors.New("the --" + name + " option needs a value")
		}
	}
	return nil
}

// validate refuses flags that contradict each other, with coreutils' words
// where it has the case.
func (o *options) validate(args []string) error {
	for _, rule := range []struct {
		broken bool
		text   string
	}{
		{o.tag && o.mode == modeText, "--tag does not support --text mode"},
		{o.zero && o.check, "the --zero option is not supported when verifying checksums"},
		{o.tag && o.check, "the --tag option is meaningless when verifying checksums"},
		{o.mode != modeUnset && o.check, "the --binary and --text options are meaningless when verifying checksums"},
		{o.json && o.check, "the --json option is not supported when verifying checksums"},
		{o.output != "" && o.check, "the --output option is not supported when verifying checksums"},
		{o.follow && o.check, "the --follow option is meaningless when verifying checksums"},
		{o.filesFrom != "" && o.check, "the --files-from option is not supported when verifying checksums"},
		{o.ignoreMissing && !o.check, "the --ignore-missing option is meaningful only when verifying checksums"},
		{o.reporting == reportStatus && !o.check, "the --status option is meaningful only when verifying checksums"},
		{o.reporting == reportWarn && !o.check, "the --warn option is meaningful only when verifying checksums"},
		{o.reporting == reportQuiet && !o.check, "the --quiet option is meaningful only when verifying checksums"},
		{o.strict && !o.check, "the --strict option is meaningful only when verifying checksums"},
		{o.json && (o.tag || o.zero || o.mode != modeUnset), "--json does not go with --tag, --zero, --binary or --text"},
		{o.null && o.filesFrom == "", "the --null option is meaningful only with --files-from"},
		{o.filesFrom != "" && len(args) > 0, "file operands cannot be combined with --files-from"},
		{!slices.Contains([]string{"auto", "always", "never"}, o.progress), "invalid argument " + quote(o.progress) + " for --progress: want auto, always or never"},
	} {
		if rule.broken {
			return errors.New(rule.text)
		}
	}
	return nil
}

// runAhead is how many files may be dealt with while the one whose line is next
// is still being read. It lets a core go through small files for as long as
// another one needs for a large file, and bounds the memory: a file that waits
// takes some hundred bytes.
const runAhead = 1 << 15

// limit is what -j says to the library: nothing if it is to find the limit itself.
func limit(jobs string) ([]stint.Option, error) {
	if jobs == "auto" {
		return nil, nil
	}
	n, err := strconv.Atoi(jobs)
	if err != nil || n < 1 {
		return nil, errors.New("invalid number of jobs " + quote(jobs) + ": want 1 or more, or auto")
	}
	return []stint.Option{stint.Limit(n)}, nil
}
