package main

import (
	"cmp"
	"context"
	"errors"
	"os"
	"os/user"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/stint-go/stint/cluster"
	"github.com/stint-go/stint/cmd/stint/internal/console"
	"github.com/stint-go/stint/cmd/stint/internal/files"
	"github.com/stint-go/stint/cmd/stint/internal/interrupt"
	"github.com/stint-go/stint/cmd/stint/internal/limit"
	"github.com/stint-go/stint/cmd/stint/internal/run/remote"
	"github.com/stint-go/stint/cmd/stint/internal/sum"
)

var workHelp = help{
	use:   "work --cluster URL [flags]",
	short: "Run a worker, which reads files or runs commands for other machines",
	long: `Run a worker until it is interrupted. Without --run it reads files for
"stint sum --cluster". The files must exist here under the same names as on the
machine where that command runs: both machines need the same file system.

With --run it runs the jobs of "stint run --cluster" instead, with its own rights
and environment, for everybody who may use the server. With --run=NAMES it
starts only programs of these names, which it finds in its own PATH. NAMES limit
which program is started, not what the program does: sh, env, find, tar, git and
many others start any program themselves.

A worker reads files with its own rights for everybody who may use the server.
The digest of a file tells whether the file exists, and whether it has a guessed
content. With --root it reads only files below one directory. Their names must
begin with that directory as given or without symbolic links. It refuses all
other paths without looking at them. It also refuses symbolic links that are
absolute or lead out of the directory, even if they change while it reads.
Without --root it warns that it reads every file that its user may read: use a
user with few rights. It never reads pipes, devices and sockets.

With --run, the signals USR1 and USR2, and a file given to -j, change the number
of jobs as for "stint run". At 0 the worker takes no more jobs.

Start as many workers as you like, on as many machines. After an interrupt a
worker finishes the files or jobs that it has started, and exits. After a second
interrupt it exits at once, and another worker gets its files or jobs after ten
seconds. If the server cannot be reached, has not started, or has a name that
cannot be looked up yet, the worker waits for it.

A worker can forge results. Its jobs do not get STINT_TOKEN, but they can read
what its user can read.

` + inScripts,
	example: `  stint work --cluster nats://127.0.0.1:4222
  STINT_TOKEN=$(cat token) stint work --cluster nats://fileserver:4222 --root /srv/photos -j 4
  stint work --cluster nats://127.0.0.1:4222 --run=gzip,flac`,
	exit: `  0    interrupted, terminated, hung up or quit, after running tasks had finished
  1    the server refused the worker or could not be used, or the directory of
       --root could not be opened
  2    wrong command line
  130  interrupted before the server was reached (143: terminated, 129: hung up,
       131: quit)`,
}

func newWork(std console.Streams) *cobra.Command {
	c := newClient(workHelp)
	var jobs limit.Jobs
	c.Flags().VarP(&jobs, "jobs", "j", "read `N` files or run N jobs concurrently, as for \"stint run\"; default auto")
	complete(c.Command, "jobs", "auto")
	root := c.Flags().String("root", "", "read only files below directory `PATH`")
	_ = c.MarkFlagDirname("root")
	programs := c.Flags().String("run", "", "run the jobs of \"stint run\" instead of reading files; with `NAMES`, only programs of these names")
	c.Flags().Lookup("run").NoOptDefVal = anyProgram
	c.RunE = func(cmd *cobra.Command, _ []string) error {
		err := cmp.Or(c.validate(), usage(cmd, refuseEmpty(c.Flags(), "root", "run")))
		if err != nil {
			return err
		}
		con := console.New(std.Stderr)
		if *programs != "" {
			if *root != "" {
				return usage(cmd, errors.New("--root is about files that are read: it does not limit what --run runs"))
			}
			return c.runJobs(cmd.Context(), con, *programs, jobs)
		}
		if jobs.File() != "" {
			return usage(cmd, errors.New("the --jobs option takes a file with --run only"))
		}
		below, err := files.OpenSubtree(*root)
		if err != nil {
			return console.Failure("--root " + console.Quote(*root) + ": " + console.Reason(err))
		}
		warning := ""
		if below.All() {
			warning = "reading every file that user " + userName() + " may read, for everybody who reaches the server; --root limits it"
		}
		var opts []cluster.Option
		if n := jobs.N(); n > 0 {
			opts = append(opts, cluster.Limit(n))
		}
		return c.server.Work(cmd.Context(), con, warning, func(*cluster.Client) []cluster.Handler { return []cluster.Handler{sum.Task(below)} }, opts...)
	}
	return c.Command
}

// anyProgram is the value of --run without one.
const anyProgram = "any"

// runJobs works for "stint run".
func (c *clientCommand) runJobs(ctx context.Context, con *console.Console, names string, jobs limit.Jobs) error {
	var programs []string
	warning := "running every command as user " + userName() + ", for everybody who reaches the server; --run=NAMES limits it"
	if names != anyProgram {
		programs = strings.Split(names, ",")
		warning = ""
	}
	for _, name := range programs {
		if !remote.ValidProgram(name) {
			return usage(c.Command, errors.New("the --run option wants names of programs, separated by commas: not "+console.Quote(name)))
		}
	}
	w, err := remote.NewWorker(programs, jobs, interrupt.Steps(ctx), con, watcher())
	if err != nil {
		return err
	}
	defer w.Close()
	return c.server.Work(ctx, con, warning, w.Handlers, cluster.Limiter(w.Limiter()))
}

// userName returns the name of the user whose files a worker reads.
func userName() string {
	if u, err := user.Current(); err == nil {
		return console.Quote(u.Username)
	}
	return strconv.Itoa(os.Getuid())
}
