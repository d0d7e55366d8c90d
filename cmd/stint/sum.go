package main

import (
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/stint-go/stint/cmd/stint/internal/console"
	"github.com/stint-go/stint/cmd/stint/internal/sum"
)

var sumHelp = help{
	use:   "sum [flags] [PATH...]",
	short: "Print or check digests of files and directories",
	long: `Print or check digests, in the format of md5sum and sha256sum.

If PATH is a directory, every regular file below it is read, including hidden
files. Names are printed as by "find PATH -type f" and sorted by their bytes
("LC_ALL=C sort"). In a directory, symbolic links are skipped unless --follow is
given. Pipes, sockets and devices are skipped with a message. Temporary files
that a killed "stint sum -o" has left, named .stint- and 26 letters, are skipped
without a message. A PATH on the command line is read whatever its type, and
symbolic links are followed. Files are read concurrently; the output is in order.

With no PATH, or when PATH is -, standard input is read. With no PATH on a
terminal, the current directory is walked.

The FILE of -o is replaced in one step when the output is complete. The new FILE
has the permissions of the old one, and its owner and group if this user may set
them, but not its other hard links, access control lists and extended
attributes. Symbolic links to a file are followed. A FILE that may not be
written is not replaced. Devices, pipes and open descriptors such as /dev/fd/3
are written directly.

With -c, each PATH is a file with lines as printed by this command, by GNU's
tools, or by the BSD tools and "openssl dgst". A line with a tag, such as "MD5
(name) = ...", names its own algorithm. If -a is given, it must name the same
algorithm. Other lines have the algorithm of -a. Files that are in no line are
not reported.

With --cluster, this command finds the files, and workers read them. "stint
work" starts workers, on this machine and others. Workers must have the files
under the same names. The output is the same. Standard input, pipes and devices
are errors, since workers cannot read them. Lists of names and of digests are
read here. While there is no worker, or the server is away or its disk is full,
the command says so and waits. If the server refuses data that exceeds its
limits, the command waits for half a minute. With --cluster, -j is the number of
files that all workers together read. If several commands run concurrently, the
smallest of their numbers applies to all. STINT_TOKEN is the token for the
server if the URL contains none.`,
	example: `  stint sum -a md5 photos > MD5SUMS      digests of a tree
  stint sum -c -a md5 --quiet MD5SUMS    check them, print only what differs
  stint sum -o SHA256SUMS .              write the list in one step
  find . -newer stamp -print0 | stint sum --files-from - -0
  stint sum --json /etc | jq .path
  stint sum --cluster nats://127.0.0.1:4222 photos`,
	exit: `  0    every file was read, and with -c every digest matched
  1    a file could not be read (the file of -o lists the others) or did not
       match, the output could not be written, or the server of --cluster could
       not be reached or stayed full
  2    wrong command line
  130  interrupted (143: terminated, 129: hung up, 131: quit, 141: the reader of
       the output has gone); the file of -o is unchanged

A standard stream that is closed counts as /dev/null.`,
}

func newSum(std console.Streams) *cobra.Command {
	cmd := sumHelp.command()
	cmd.Args = cobra.ArbitraryArgs
	cmd.ValidArgsFunction = nil // names of files
	var o sum.Options
	addSumFlags(cmd, &o)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		err := validateSum(cmd.Flags(), &o, args)
		var s *sum.Summer
		if err == nil {
			s, err = sum.New(&o, args, std)
		}
		if err != nil {
			return usage(cmd, err)
		}
		return s.Run(cmd.Context())
	}
	return cmd
}

// addChoice adds a flag without a value that sets target, a variable of several flags, to
// value. The last of these flags on the command line counts.
func addChoice[T any](f *pflag.FlagSet, target *T, value T, name, short, usage string) {
	f.BoolFuncP(name, short, usage, func(s string) error {
		on, err := strconv.ParseBool(s)
		if on {
			*target = value
		}
		return err
	})
}

func addSumFlags(cmd *cobra.Command, o *sum.Options) {
	f := cmd.Flags()
	f.StringVarP(&o.Algorithm, "algorithm", "a", "sha256", "digest algorithm `NAME`: "+strings.Join(sum.Algorithms(), ", "))
	complete(cmd, "algorithm", sum.Algorithms()...)
	f.VarP(&o.Jobs, "jobs", "j", "read `N` files concurrently: 8, 50%, +2 or -1 of the CPUs; default auto")
	complete(cmd, "jobs", "auto")
	f.BoolVar(&o.Follow, "follow", false, "follow symbolic links in directories too")
	f.StringVar(&o.FilesFrom, "files-from", "", "read the PATHs from `FILE`, one a line; -: standard input")
	f.BoolVarP(&o.Null, "null", "0", false, "the PATHs of --files-from end in NUL, not newline")
	f.StringVarP(&o.Output, "output", "o", "", "write to `FILE`, which is replaced when the output is complete; -: standard output")
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

// validateSum refuses flags that contradict each other.
func validateSum(f *pflag.FlagSet, o *sum.Options, args []string) error {
	o.OneAlgorithm = f.Changed("algorithm")
	if err := refuseEmpty(f, "output", "files-from"); err != nil {
		return err
	}
	if err := validateOptionalServer(f, &o.Server); err != nil {
		return err
	}
	rules := []rule{{o.Tag && f.Changed("text"), "--tag does not support --text mode"}}
	for _, name := range []string{"zero", "json", "output", "files-from", "tag", "follow", "binary", "text"} {
		rules = append(rules, rule{o.Check && f.Changed(name), "the --" + name + " option is meaningless when verifying checksums"})
	}
	for _, name := range []string{"ignore-missing", "status", "warn", "quiet", "strict"} {
		rules = append(rules, rule{!o.Check && f.Changed(name), "the --" + name + " option is meaningful only when verifying checksums"})
	}
	return refuse(append(rules,
		rule{o.Jobs.File() != "", "the --jobs option does not take a file"},
		rule{o.JSON && (o.Tag || o.Zero || f.Changed("binary") || f.Changed("text")), "--json does not go with --tag, --zero, --binary or --text"},
		rule{o.Null && o.FilesFrom == "", "the --null option is meaningful only with --files-from"},
		rule{o.FilesFrom != "" && len(args) > 0, "file operands cannot be combined with --files-from"},
		refuseProgress(o.Progress),
	)...)
}
