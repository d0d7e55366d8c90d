package main

import (
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/stint-go/stint/cmd/stint/internal/sum"
)

// addChoice adds a flag without a value that sets target, a variable of several flags, to
// value. The last of these flags on the command line counts.
func addChoice[T comparable](f *pflag.FlagSet, target *T, value T, name, short, usage string) {
	f.BoolFuncP(name, short, usage, func(s string) error {
		on, err := strconv.ParseBool(s)
		var unset T
		switch {
		case on:
			*target = value
		case *target == value:
			*target = unset
		}
		return err
	})
}

func addSumFlags(cmd *cobra.Command, o *sum.Options) {
	f := cmd.Flags()
	f.StringVarP(&o.Algorithm, "algorithm", "a", "sha256", "digest algorithm `NAME`: "+strings.Join(sum.Algorithms(), ", "))
	complete(cmd, "algorithm", sum.Algorithms()...)
	addJobs(cmd, &o.Jobs)
	f.BoolVar(&o.Follow, "follow", false, "follow symbolic links in directories too")
	f.StringVar(&o.FilesFrom, "files-from", "", "read the PATHs from `FILE`, one a line; -: standard input")
	f.BoolVarP(&o.Null, "null", "0", false, "the PATHs of --files-from end in NUL, not newline")
	f.StringVarP(&o.Output, "output", "o", "", "write to `FILE`, which appears when it is complete; -: standard output")
	f.StringVar(&o.Progress, "progress", "auto", "print progress on standard error: `WHEN` is auto (terminal, no pipe), always, never")
	complete(cmd, "progress", "auto", "always", "never")
	f.BoolVar(&o.Tag, "tag", false, "print BSD-style lines: SHA256 (name) = digest")
	f.BoolVarP(&o.Zero, "zero", "z", false, "end each output line with NUL, and do not escape names")
	f.BoolVar(&o.JSON, "json", false, "print a JSON object a line, with path, algorithm, digest and size, or error")
	addChoice(f, &o.Binary, true, "binary", "b", "mark names with *, as for files read in binary mode")
	addChoice(f, &o.Binary, false, "text", "t", "mark names with a space (default); both modes read the same bytes")
	f.BoolVarP(&o.Check, "check", "c", false, "check the digests that the PATHs list")
	f.BoolVar(&o.IgnoreMissing, "ignore-missing", false, "with -c: neither report nor fail for missing files")
	addChoice(f, &o.Report, sum.ReportQuiet, "quiet", "", "with -c: print no OK lines")
	addChoice(f, &o.Report, sum.ReportStatus, "status", "", "with -c: print nothing; the exit status tells the result")
	f.BoolVar(&o.Strict, "strict", false, "with -c: fail for improperly formatted lines")
	addChoice(f, &o.Report, sum.ReportWarn, "warn", "w", "with -c: report each improperly formatted line")
	addServer(cmd, &o.Server, "let the workers of the server at `URL` read the files")
}

// validateSum refuses flags that contradict each other, in coreutils' words where it has
// the case.
func validateSum(f *pflag.FlagSet, o *sum.Options, args []string) error {
	o.OneAlgorithm = f.Changed("algorithm")
	if err := refuseEmpty(f, "output", "files-from"); err != nil {
		return err
	}
	if err := validateOptionalServer(f, &o.Server); err != nil {
		return err
	}
	rules := []rule{{o.Tag && f.Changed("text"), "--tag does not support --text mode"}}
	for _, name := range []string{"zero", "json", "output", "files-from"} {
		rules = append(rules, rule{o.Check && f.Changed(name), "the --" + name + " option is not supported when verifying checksums"})
	}
	for _, name := range []string{"tag", "follow"} {
		rules = append(rules, rule{o.Check && f.Changed(name), "the --" + name + " option is meaningless when verifying checksums"})
	}
	for _, name := range []string{"ignore-missing", "status", "warn", "quiet", "strict"} {
		rules = append(rules, rule{!o.Check && f.Changed(name), "the --" + name + " option is meaningful only when verifying checksums"})
	}
	hasMode := f.Changed("binary") || f.Changed("text")
	return refuse(append(rules,
		rule{hasMode && o.Check, "the --binary and --text options are meaningless when verifying checksums"},
		rule{o.JSON && (o.Tag || o.Zero || hasMode), "--json does not go with --tag, --zero, --binary or --text"},
		rule{o.Null && o.FilesFrom == "", "the --null option is meaningful only with --files-from"},
		rule{o.FilesFrom != "" && len(args) > 0, "file operands cannot be combined with --files-from"},
		refuseProgress(o.Progress),
	)...)
}
