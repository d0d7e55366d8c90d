package main

import (
	"errors"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/stint-go/stint/cmd/stint/internal/console"
	"github.com/stint-go/stint/cmd/stint/internal/machine"
	"github.com/stint-go/stint/cmd/stint/internal/run"
)

func addRunFlags(cmd *cobra.Command, o *run.Options) {
	f := cmd.Flags()
	f.SetInterspersed(false) // flags end at COMMAND
	f.StringArrayVarP(&o.Files, "arg-file", "a", nil, "read items from `FILE`, one per line (-: standard input); repeatable")
	f.BoolVarP(&o.Null, "null", "0", false, "items end in NUL instead of newline")
	f.StringVarP(&o.Delimiter, "delimiter", "d", "", "items end in the byte `C`, such as , or \\t")
	f.IntVarP(&o.MaxArgs, "max-args", "n", 0, "pass `N` items to each job")
	f.BoolVarP(&o.Fit, "fit", "X", false, "pass as many items to each job as fit on a command line")
	f.StringVar(&o.ColSep, "colsep", "", "split items at the regular expression `RE` into {1} {2} ..., and trim")
	f.BoolVar(&o.Trim, "trim", false, "remove white space around items; --colsep implies it (--trim=false)")
	f.BoolVar(&o.Pipe, "pipe", false, "pass a block of standard input to each job, cut at line ends")
	f.Var(&o.Block, "block", "size of a block, approximately; the default is 1M")
	f.BoolVarP(&o.Shell, "shell", "s", false, "COMMAND is a script for the shell")
	jobs := func(s string) (err error) {
		o.Jobs, err = run.ParseJobs(s, machine.CPUs())
		return err
	}
	f.FuncP("jobs", "j", "run `N` jobs concurrently: 8, 50%, +2 or -1 of the CPUs; default auto", jobs)
	f.FuncP("max-procs", "P", "the same as --jobs `N`", jobs) // of xargs
	f.Lookup("max-procs").Hidden = true
	complete(cmd, "jobs", "auto")
	f.Var(&o.Delay, "delay", "wait this long between two starts")
	f.Var(&o.Timeout, "timeout", "terminate jobs that take longer: seconds, or 2m30s")
	f.IntVar(&o.Retries, "retries", 0, "retry a failed job up to `N` times")
	f.Var(&o.RetryDelay, "retry-delay", "wait this long before a retry, twice as long before the next")
	f.Var(&o.Halt, "halt", "start no more (soon) or end all (now) after ,fail=N (default 1) or ,success=N")
	complete(cmd, "halt", "never", "soon,fail=1", "now,fail=1", "soon,success=1", "now,success=1")
	f.BoolVar(&o.DryRun, "dry-run", false, "print the commands and run none")
	f.IntVar(&o.Nice, "nice", 0, "add `N` to the niceness of jobs")
	f.Var(&o.MemFree, "memfree", "start no job while less memory is available, such as 2G; Linux only")
	f.BoolVarP(&o.Unordered, "unordered", "u", false, "print the output of each job as soon as it ends")
	f.BoolVar(&o.LineBuffer, "line-buffer", false, "print lines as they come, with those of other jobs between them")
	f.BoolVar(&o.Ungroup, "ungroup", false, "pass output through as it comes: lines of jobs may mix")
	f.BoolVar(&o.Tag, "tag", false, "print the item and a tab before each line")
	f.BoolVar(&o.JSON, "json", false, "print a JSON object for each job, with its output, and for the run")
	f.StringVar(&o.Results, "results", "", "also write stdout, stderr and status of job N to files in `DIR`/N")
	_ = cmd.MarkFlagDirname("results")
	f.BoolVar(&o.Quiet, "quiet", false, "print no summary of failed jobs")
	f.StringVar(&o.Progress, "progress", "auto", "show progress, `WHEN`: auto (terminal, no pipe), always, never")
	complete(cmd, "progress", "auto", "always", "never")
	f.StringVar(&o.Joblog, "joblog", "", "write a line to `FILE` for each job that has ended")
	f.BoolVar(&o.Resume, "resume", false, "with --joblog: skip the jobs that are in the log")
	f.BoolVar(&o.ResumeFailed, "resume-failed", false, "with --joblog: skip the jobs that succeeded, retry the others")
	addServer(cmd, &o.Server, "run the jobs on the workers of the server at `URL`")
	f.StringArrayVar(&o.Env, "env", nil, "with --cluster: pass variable `NAME` to the jobs; repeatable")
	f.StringVar(&o.Dir, "cwd", "", "run the jobs in directory `DIR`; with --cluster, by default in the worker's")
	_ = cmd.MarkFlagDirname("cwd")
	addPeerFlags(f, o)
}

// addPeerFlags adds flags of xargs and GNU parallel that have another name here, or whose
// effect is the default, so that scripts need not change. The manual page lists them, the
// help does not.
func addPeerFlags(f *pflag.FlagSet, o *run.Options) {
	f.StringVarP(&o.Replace, "replace", "I", "", "`TEXT` stands for the item, instead of {}; as for xargs")
	f.IntVarP(&o.MaxArgs, "max-replace-args", "N", 0, "the same as --max-args `N`")
	always := func(string) error { o.Progress = "always"; return nil }
	f.BoolFunc("bar", "the same as --progress always", always)
	f.BoolFunc("eta", "the same as --progress always", always)
	var ignored bool
	f.BoolVarP(&ignored, "keep-order", "k", false, "the default: output is in the order of the items")
	f.BoolVarP(&ignored, "no-run-if-empty", "r", false, "ignored: without items no job runs")
	f.BoolVarP(&ignored, "quote", "q", false, "ignored: no shell reads the arguments")
	f.BoolVar(&ignored, "will-cite", false, "ignored")
	for _, name := range []string{"replace", "max-replace-args", "bar", "eta", "keep-order", "no-run-if-empty", "quote", "will-cite"} {
		f.Lookup(name).Hidden = true
	}
}

// peerFlags are flags of xargs and GNU parallel that this command does not have, and what there
// is instead.
var peerFlags = map[string]string{
	"--link": "paste(1), which joins lists line by line, and --colsep", "--xapply": "paste(1), which joins lists line by line, and --colsep",
	"--wd": "--cwd", "--workdir": "--cwd", "--sshlogin": "--cluster", "'S'": "--cluster", "--retry-failed": "--resume-failed, with the same command and items", "--retry": "--retries",
	"--linebuffer": "--line-buffer", "--lb": "--line-buffer", "'C'": "--colsep", "--csv": "--colsep , if no field is quoted", "'L'": "-n", "--max-lines": "-n",
	"--group": "nothing: it is the default", "--no-notice": "nothing", "'t'": "--dry-run, or --joblog", "--verbose": "--dry-run, or --joblog",
	"--tagstring": "--tag", "'m'": "-X", "--xargs": "-X", "--load": "nothing: the number of jobs adapts", "--tmpdir": "the variable TMPDIR",
}

// explain adds what to use instead of a flag of another program.
func explain(cmd *cobra.Command, err error) error {
	for flag, instead := range peerFlags {
		if text := err.Error(); strings.HasSuffix(text, "unknown flag: "+flag) || strings.Contains(text, "unknown shorthand flag: "+flag+" ") {
			err = errors.New(text + "; use " + instead)
			break
		}
	}
	return usage(cmd, err)
}

// validateRun refuses flags that contradict each other.
func validateRun(f *pflag.FlagSet, o *run.Options) error {
	if err := refuseEmpty(f, "delimiter", "colsep", "results", "joblog", "cwd", "replace"); err != nil {
		return err
	}
	remote := f.Changed("cluster")
	if remote {
		if err := validateServer(f, &o.Server); err != nil {
			return err
		}
	}
	o.NoOverload = f.Changed("retries")
	o.Trim = o.Trim || o.ColSep != "" && !f.Changed("trim")
	modes := 0
	for _, name := range []string{"unordered", "line-buffer", "ungroup"} {
		if f.Changed(name) {
			modes++
		}
	}
	return refuse(
		rule{o.Pipe && len(o.Command) == 0, "the --pipe option needs a COMMAND"},
		rule{o.Pipe && len(o.Lists)+len(o.Files) > 0, "--pipe reads standard input: it does not go with ::: and --arg-file"},
		rule{o.Pipe && (o.Null || o.Delimiter != "" || o.ColSep != "" || o.Trim || o.Fit || o.MaxArgs != 0), "--pipe gives blocks of standard input, not items"},
		rule{o.Pipe && (o.Resume || o.ResumeFailed), "--resume does not go with --pipe: a block has no name by which the job log could know it"},
		rule{f.Changed("block") && !o.Pipe, "the --block option is meaningful only with --pipe"},
		rule{f.Changed("block") && o.Block < 1, "the --block option needs a size of 1 or more"},
		rule{(f.Changed("max-args") || f.Changed("max-replace-args")) && o.MaxArgs < 1, "the --max-args option needs a number of 1 or more"},
		rule{o.Null && o.Delimiter != "", "--null and --delimiter exclude each other"},
		rule{o.Shell && len(o.Command) == 0, "the --shell option needs a COMMAND"},
		rule{o.Retries < 0, "the --retries option needs a number of 0 or more"},
		rule{f.Changed("keep-order") && modes > 0, "--keep-order is the default, and does not go with --unordered, --line-buffer and --ungroup"},
		rule{modes > 1, "--unordered, --line-buffer and --ungroup exclude each other"},
		rule{o.JSON && (o.Tag || o.LineBuffer || o.Ungroup), "--json does not go with --tag, --line-buffer and --ungroup"},
		rule{o.Tag && o.Ungroup, "--tag does not go with --ungroup"},
		rule{(o.Resume || o.ResumeFailed) && o.Joblog == "", "--resume and --resume-failed need --joblog"},
		rule{len(o.Env) > 0 && !remote, "the --env option is meaningful only with --cluster: here jobs have all variables"},
		rule{f.Changed("credentials") && !remote, "the --credentials option is meaningful only with --cluster"},
		rule{f.Changed("tls-ca") && !remote, "the --tls-ca option is meaningful only with --cluster"},
		rule{remote && (o.Ungroup || o.LineBuffer), "--cluster does not go with --ungroup and --line-buffer"},
		rule{remote && (o.Delay > 0 || o.MemFree > 0 || f.Changed("nice")), "--cluster does not go with --delay, --memfree and --nice"},
		refuseSource(append(o.Lists, o.Command)),
		rule{f.Changed("memfree") && runtime.GOOS != "linux", "the --memfree option works on Linux only"},
		rule{!slices.Contains([]string{"auto", "always", "never"}, o.Progress), "invalid argument " + console.Quote(o.Progress) + " for --progress: want auto, always or never"},
		refuseName(o.Env),
	)
}

// refuseSource refuses the other sources of GNU parallel, which would be items here.
func refuseSource(lists [][]string) rule {
	for _, list := range lists {
		for _, s := range []string{"::::", ":::+", "::::+"} {
			if slices.Contains(list, s) {
				return rule{true, s + " is not supported: --arg-file reads items from a file, and --colsep makes columns of lines"}
			}
		}
	}
	return rule{}
}

// refuseName refuses names of variables that cannot be.
func refuseName(names []string) rule {
	i := slices.IndexFunc(names, func(name string) bool { return name == "" || strings.ContainsAny(name, "=, ") })
	if i < 0 {
		return rule{}
	}
	return rule{true, "the --env option wants the name of one variable, not " + console.Quote(names[i]) + "; it is repeatable"}
}
