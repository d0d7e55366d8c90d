package main

import (
	"cmp"
	"os"
	"os/user"
	"strconv"

	"github.com/spf13/cobra"
	"github.com/stint-go/stint/cmd/stint/internal/console"
	"github.com/stint-go/stint/cmd/stint/internal/files"
	"github.com/stint-go/stint/cmd/stint/internal/sum"
)

var workHelp = help{
	use:   "work --cluster URL [flags]",
	short: "Run a worker, which reads files for other machines",
	long: `Run a worker until it is interrupted. It digests the files of "stint sum
--cluster", which must exist here under the same names as on the machine where
that command runs: both need the same file system.

A worker reads files with its own rights for everybody who may use the server.
The digest of a file tells whether the file exists, and whether it has a guessed
content. With --root it reads only below one directory, which is named as given
or without symbolic links. It refuses all other paths without looking at them,
and links that lead out of the directory, even if they change meanwhile. Without
--root it warns that it reads every file that its user may read: use a user with
few rights. It never reads pipes, devices and sockets.

Start as many workers as you like, on as many machines. After an interrupt a
worker finishes the files that it is reading, and exits. After a second
interrupt it exits at once, and another worker gets those files after ten
seconds. If the server is away, not there yet, or has a name that is not known
yet, the worker waits for it.

A worker can forge results.

` + inScripts,
	example: `  stint work --cluster nats://127.0.0.1:4222
  STINT_TOKEN=$(cat token) stint work --cluster nats://fileserver:4222 --root /srv/photos -j 4`,
	exit: `  0    interrupted, terminated or hung up, after running tasks had finished
  1    the server refused the worker or could not be used, or the directory of
       --root could not be opened
  2    wrong command line
  130  interrupted before the server was reached (143: terminated, 129: hung up)`,
}

func newWork(std console.Streams) *cobra.Command {
	c := newClient(workHelp)
	var jobs int
	addJobs(c.Command, &jobs)
	root := c.Flags().String("root", "", "read only files below directory `PATH`")
	_ = c.MarkFlagDirname("root")
	c.RunE = func(cmd *cobra.Command, _ []string) error {
		err := cmp.Or(c.validate(), usage(cmd, refuseEmpty(c.Flags(), "root")))
		if err != nil {
			return err
		}
		below, err := files.OpenSubtree(*root)
		if err != nil {
			return console.Failure("--root " + console.Quote(*root) + ": " + console.Reason(err))
		}
		warning := ""
		if below.All() {
			warning = "reading every file that user " + userName() + " may read, for everybody who reaches the server; --root limits it"
		}
		return c.server.Work(cmd.Context(), console.New(std.Stderr), jobs, warning, sum.Task(below))
	}
	return c.Command
}

// userName returns the name of the user whose files a worker reads.
func userName() string {
	if u, err := user.Current(); err == nil {
		return console.Quote(u.Username)
	}
	return strconv.Itoa(os.Getuid())
}
