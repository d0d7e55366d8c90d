package main

import (
	"errors"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/stint-go/stint/cmd/stint/internal/console"
	"github.com/stint-go/stint/cmd/stint/internal/jobserver"
	"github.com/stint-go/stint/cmd/stint/internal/run"
)

// addItemFlags adds the flags that "stint advise" has, too.
func addItemFlags(f *pflag.FlagSet, o *run.Options) {
	f.SetInterspersed(false) // flags end at COMMAND
	f.StringArrayVarP(&o.Files, "arg-file", "a", nil, "read items from `FILE`, one per line (-: standard input); repeatable")
	f.BoolVarP(&o.Null, "null", "0", false, "items end in NUL instead of newline")
	f.BoolVarP(&o.Shell, "shell", "s", false, "COMMAND is a script for the shell")
}

// addDuration adds a flag that is a number of seconds, or a duration as Go writes it.
func addDuration(f *pflag.FlagSet, d *time.Duration, name, usage string) {
	f.Func(name, usage, func(s string) (err error) { *d, err = run.ParseDuration(s); return err })
}

func addRunFlags(cmd *cobra.Command, o *run.Options) {
	f := cmd.Flags()
	addItemFlags(f, o)
	f.StringVarP(&o.Delimiter, "delimiter", "d", "", "items end in the byte `C`, such as , or \\t")
	f.IntVarP(&o.MaxArgs, "max-args", "n", 0, "pass `N` items to each job, or fewer if they do not fit")
	f.BoolVarP(&o.Fit, "fit", "X", false, "pass as many items to each job as fit on a command line")
	f.StringVar(&o.ColSep, "colsep", "", "split items at the regular expression `RE` into {1} {2} ..., and trim")
	f.BoolVar(&o.Trim, "trim", false, "remove white space around items; --colsep implies it (--trim=false)")
	f.BoolVar(&o.Pipe, "pipe", false, "give each job a block of standard input as its input, cut at line ends")
	f.Var(&o.Block, "block", "size of a block of --pipe, approximately; the default is 1M; with --cluster 512K, or less if the server takes less")
	f.VarP(&o.Jobs, "jobs", "j", "run `N` jobs concurrently: 8, 50%, +2 or -1 of the CPUs, or a file that has N; default auto")
	f.VarP(&o.Jobs, "max-procs", "P", "the same as --jobs `N`") // of xargs
	f.Lookup("max-procs").Hidden = true
	complete(cmd, "jobs", "auto")
	f.StringVar(&o.Jobserver, "jobserver", "", "make, ninja and cargo in jobs share the number of jobs; they get the jobserver by `STYLE`: auto, fifo or pipe")
	f.Lookup("jobserver").NoOptDefVal = "auto"
	complete(cmd, "jobserver", "auto", "fifo", "pipe")
	addDuration(f, &o.Delay, "delay", "wait a `duration` between two starts")
	addDuration(f, &o.Timeout, "timeout", "terminate jobs after a `duration`: seconds, or 2m30s")
	f.IntVar(&o.Retries, "retries", 0, "retry a failed job up to `N` times")
	addDuration(f, &o.RetryDelay, "retry-delay", "wait a `duration` before the first retry, and twice as long before each further retry")
	f.Func("halt", "`when` to end the run: soon,fail=N starts no more jobs after N failures (default 1), now,fail=N also ends running jobs, success=N counts successes", func(s string) (err error) { o.Halt, err = run.ParseHalt(s); return err })
	complete(cmd, "halt", "never", "soon,fail=1", "now,fail=1", "soon,success=1", "now,success=1")
	f.BoolVar(&o.DryRun, "dry-run", false, "print the commands and run none")
	f.IntVar(&o.Nice, "nice", 0, "add `N` to the niceness of jobs")
	f.Var(&o.MemFree, "memfree", "start no job while less memory than size is available, such as 2G; Linux only")
	f.BoolVarP(&o.Unordered, "unordered", "u", false, "print the output of each job as soon as it ends")
	f.BoolVar(&o.LineBuffer, "line-buffer", false, "print lines as they come, mixed with lines of other jobs")
	f.BoolVar(&o.Ungroup, "ungroup", false, "jobs write to the output of stint themselves: parts of lines may mix")
	f.BoolVar(&o.Tag, "tag", false, "print the item and a tab before each line")
	f.BoolVar(&o.JSON, "json", false, "print a JSON object for each job, with its output, and one for the run")
	f.StringVar(&o.Results, "results", "", "also write the output of job N to the files stdout and stderr in `DIR`/N, and its status to status")
	_ = cmd.MarkFlagDirname("results")
	f.BoolVar(&o.Quiet, "quiet", false, "print no summary of failed jobs")
	f.StringVar(&o.Progress, "progress", "auto", "show progress; `WHEN` is auto (on a terminal, without a pipe), always or never")
	complete(cmd, "progress", "auto", "always", "never")
	f.StringVar(&o.Joblog, "joblog", "", "write a line to `FILE` for each job that has ended")
	f.BoolVar(&o.Resume, "resume", false, "with --joblog: skip the jobs that are in the log")
	f.BoolVar(&o.ResumeFailed, "resume-failed", false, "with --joblog: skip the jobs that succeeded, retry the others")
	f.StringVar(&o.Trace, "trace", "", "write the jobs and the limit to `FILE`, as events for Perfetto")
	f.BoolVar(&o.Summary, "summary", false, "print at the end the time that the jobs took, the memory of the largest if it is known, and how the limit changed")
	addServer(cmd, &o.Server, "run the jobs on the workers of the server at `URL`")
	f.StringArrayVar(&o.Env, "env", nil, "with --cluster: pass variable `NAME` to the jobs; repeatable")
	f.StringVar(&o.Dir, "cwd", "", "run the jobs in directory `DIR`; with --cluster, the default is the directory of the worker")
	_ = cmd.MarkFlagDirname("cwd")
	addPeerFlags(f, o)
}

// addPeerFlags adds flags of xargs and GNU parallel that have another name here, or whose
// effect is the default, so that scripts need not change. The manual page lists them, the
// help does not.
func addPeerFlags(f *pflag.FlagSet, o *run.Options) {
	f.StringVarP(&o.Replace, "replace-str", "I", "", "`TEXT` stands for the item, instead of {}; as for xargs")
	f.IntVarP(&o.MaxArgs, "max-replace-args", "N", 0, "the same as --max-args `N`")
	always := func(string) error { o.Progress = "always"; return nil }
	f.BoolFunc("bar", "the same as --progress always", always)
	f.BoolFunc("eta", "the same as --progress always", always)
	var ignored bool
	f.BoolVarP(&ignored, "keep-order", "k", false, "the default: output is in the order of the items")
	f.BoolVarP(&ignored, "no-run-if-empty", "r", false, "ignored: without items no job runs")
	f.BoolVarP(&ignored, "quote", "q", false, "ignored: no shell reads the arguments")
	f.BoolVar(&ignored, "will-cite", false, "ignored")
	for _, name := range []string{"replace-str", "max-replace-args", "bar", "eta", "keep-order", "no-run-if-empty", "quote", "will-cite"} {
		f.Lookup(name).Hidden = true
	}
}

// peerFlags are flags that users of xargs, GNU parallel and rush miss here, and what to do instead.
var peerFlags = adviceOf(map[string]string{
	"-i --replace":                 "-I TEXT has TEXT stand for the item; {} does without a flag",
	"-e -E --eof":                  "end the input before: sed '/^EOF$/,$d' | stint run ...",
	"-L -l --max-lines":            "-n N passes N lines to a job; --colsep ' +' makes several items of a line",
	"-o --open-tty --tty --tmux":   "jobs cannot use the terminal; a loop of the shell runs commands that do",
	"-p --interactive":             "nobody is asked; --dry-run prints the commands, to choose from and give to sh",
	"-t -v --verbose":              "--dry-run prints the commands and runs none; --joblog FILE writes them to a file",
	"-x --exit":                    "an item that is too long ends the run in any case",
	"--max-chars":                  "-X passes as many items as fit; -n N bounds their number",
	"--process-slot-var":           "{%} is the slot of a job: -s 'NAME={%} command {}'",
	"--version":                    "stint --version prints the version",
	"--transfer --return --trc":    "files are not copied: workers need a shared file system, or fetch them in the script",
	"--transferfile --basefile":    "files are not copied: workers need a shared file system, or fetch them in the script",
	"--bg --fg --semaphore --id":   "there is no semaphore between runs; flock(1) has one command wait for another",
	"-C --csv":                     "--colsep RE splits items; lines with quoted fields need a program that writes tabs",
	"--halt-on-error --propexit":   "--halt soon,fail=1 or now,fail=1 ends the run after a failure",
	"--header":                     "remove the first line: tail -n +2 FILE | stint run ...; {1} and so on stand for columns",
	"--lb --linebuffer":            "--line-buffer prints lines as they come",
	"--link --xapply":              "paste(1) joins lists line by line, for --colsep '\\t'",
	"--load --noswap":              "the number of jobs adapts to the load without a flag; -j fixes it",
	"-m --xargs":                   "-X passes as many items as fit",
	"--pipepart --pipe-part":       "--pipe reads standard input; split(1) cuts a file, whose parts are items",
	"--plus --rpl":                 "use -s and expansions of the shell, such as ${1%.gz}",
	"--recend --recstart --regexp": "--pipe cuts at ends of lines; csplit(1) or awk makes files of other records",
	"--retry-failed --continue":    "--resume-failed, with the same command and items, retries what has failed",
	"--round-robin --tee --cat":    "--pipe starts a job for each block, with that block only, on standard input",
	"--shuf --filter":              "filter or shuffle the items before: shuf | stint run ...",
	"--silent --group":             "it is the default: leave the flag out",
	"-S --sshlogin --slf --onall":  "--cluster URL runs jobs on workers that stint work --run has started; or stint run ssh {} command ::: HOST...",
	"--tagstring":                  "--tag marks lines with the item; sed in a script (-s) marks them with other text",
	"--termseq --term-seq":         "a job gets TERM, and KILL half a second later",
	"--tmpdir --compress":          "the variable TMPDIR says where output is kept",
	"--wd --workdir":               "--cwd DIR runs jobs in a directory",
})

// adviceOf gives each of the flags that a key names its own entry.
func adviceOf(table map[string]string) map[string]string {
	all := make(map[string]string)
	for flags, advice := range table {
		for _, flag := range strings.Fields(flags) {
			all[flag] = advice
		}
	}
	return all
}

// explain adds what to do instead of a flag of another program.
func explain(cmd *cobra.Command, err error) error {
	if unknown, ok := errors.AsType[*pflag.NotExistError](err); ok {
		name := "--" + unknown.GetSpecifiedName()
		if unknown.GetSpecifiedShortnames() != "" {
			name = name[1:]
		}
		if advice := peerFlags[name]; advice != "" {
			err = errors.New(err.Error() + "; " + advice)
		}
	}
	return usage(cmd, err)
}

// validateRun refuses flags that contradict each other.
func validateRun(f *pflag.FlagSet, o *run.Options) error {
	if err := refuseEmpty(f, "delimiter", "colsep", "results", "joblog", "trace", "cwd", "replace-str"); err != nil {
		return err
	}
	if err := validateOptionalServer(f, &o.Server); err != nil {
		return err
	}
	remote := f.Changed("cluster")
	o.NoOverload = f.Changed("retries")
	o.JobsGiven = f.Changed("jobs") || f.Changed("max-procs")
	o.DryRun = o.DryRun || jobserver.DryRun(os.Getenv("MAKEFLAGS"))
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
		rule{remote && o.Jobs.File() != "", "--cluster goes with a number of jobs, not with a file: give the file to the workers"},
		rule{remote && (o.Ungroup || o.LineBuffer), "--cluster does not go with --ungroup and --line-buffer"},
		rule{remote && (o.Delay > 0 || o.MemFree > 0 || f.Changed("nice")), "--cluster does not go with --delay, --memfree and --nice"},
		refuseSource(append(o.Lists, o.Command)),
		rule{f.Changed("memfree") && runtime.GOOS != "linux", "the --memfree option works on Linux only"},
		rule{f.Changed("jobserver") && !slices.Contains([]string{"auto", "fifo", "pipe"}, o.Jobserver), "invalid argument " + console.Quote(o.Jobserver) + " for --jobserver: want auto, fifo or pipe"},
		rule{f.Changed("jobserver") && remote, "--cluster does not go with --jobserver"},
		rule{f.Changed("jobserver") && runtime.GOOS == "windows", "the --jobserver option does not work on Windows"},
		refuseProgress(o.Progress),
		refuseName(o.Env),
	)
}

// refuseSource refuses the other sources of GNU parallel, which would be items here.
func refuseSource(lists [][]string) rule {
	for _, s := range slices.Concat(lists...) {
		if slices.Contains([]string{"::::", ":::+", "::::+"}, s) {
			return rule{true, s + " is not supported: --arg-file reads items from a file, and --colsep makes columns of lines"}
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
