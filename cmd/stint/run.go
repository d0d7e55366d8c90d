package main

import (
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"syscall"

	"github.com/spf13/cobra"
)

// Exit statuses. A run ended by a signal adds its number to statusSignal, as
// shells do: 130 for an interrupt, 143 for a termination, 129 for a hang-up, 141 for
// results that nobody reads.
const (
	statusOK     = 0
	statusFailed = 1
	statusUsage  = 2
	statusSignal = 128
)

// errFailed ends a run with statusFailed when the reason has been printed.
var errFailed = errors.New("failed")

// usageError is a mistake on the command line, found by us and not by cobra.
type usageError struct {
	command string
	message string
}

func (e *usageError) Error() string { return e.message }

// failure ends a run with statusFailed, and says why.
type failure struct{ text string }

func (f *failure) Error() string { return f.text }

// streams are the three standard streams of one run.
type streams struct {
	stdin  io.Reader
	stdout io.Writer
	stderr io.Writer
}

// run executes one command line and returns the exit status. It ends early
// when ctx ends or the process is interrupted, and then has removed what it
// left unfinished. A second interrupt kills the process.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	hungUp, stop := notify(ctx, syscall.SIGHUP)
	defer stop()
	terminated, stop := notify(hungUp, syscall.SIGTERM)
	defer stop()
	interrupted, stop := notify(terminated, os.Interrupt)
	defer stop()

	std := streams{stdin, stdout, stderr}
	root := newRoot(std)
	root.SetArgs(append([]string{}, args...)) // nil would mean os.Args
	help := &recorder{w: stdout}
	root.SetOut(help)
	err := cmp.Or(root.ExecuteContext(interrupted), help.failed())
	switch {
	case err == nil || interrupted.Err() == nil:
		return status(err, stderr)
	case hungUp.Err() != nil && ctx.Err() == nil:
		return statusSignal + int(syscall.SIGHUP)
	case terminated.Err() != nil && ctx.Err() == nil:
		return statusSignal + int(syscall.SIGTERM)
	}
	return statusSignal + int(syscall.SIGINT)
}

// notify is signal.NotifyContext with two differences. The first signal takes
// the handler away, so that the second one has its default action; and a
// signal that was ignored when the process began, as an interrupt is in a
// script's background job, stays ignored.
func notify(ctx context.Context, sig os.Signal) (context.Context, context.CancelFunc) {
	if signal.Ignored(sig) {
		return context.WithCancel(ctx)
	}
	ctx, stop := signal.NotifyContext(ctx, sig)
	context.AfterFunc(ctx, stop)
	return ctx, stop
}

// status prints err, unless that was done already, and gives its exit status.
func status(err error, stderr io.Writer) int {
	c := &console{w: stderr}
	var usage *usageError
	var write *writeError
	var failed *failure
	switch {
	case err == nil:
		return statusOK
	case errors.Is(err, errFailed):
		return statusFailed
	case errors.As(err, &write) && errors.Is(err, syscall.EPIPE): // nobody reads on: nothing to say
		return statusSignal + int(syscall.SIGPIPE)
	case errors.As(err, &write), errors.As(err, &failed):
		c.message(err.Error())
		return statusFailed
	case errors.As(err, &usage):
		c.message(usage.message)
		c.plain("Try '" + usage.command + " --help' for more information.")
		return statusUsage
	default: // cobra's own: an unknown command or an argument too many
		c.message(err.Error())
		c.plain("Try 'stint --help' for more information.")
		return statusUsage
	}
}

const rootLong = `stint does work on many files at once and prints the results in order. The work
is done on this machine, or by workers on several: "stint serve" is the server
that they meet at, "stint work" is a worker, and "stint sum --cluster" gives
them files.`

func newRoot(std streams) *cobra.Command {
	root := &cobra.Command{
		Use:           "stint",
		Short:         "Do work on many files at once, in order, on one machine or several",
		Long:          rootLong,
		Version:       version(),
		Args:          cobra.NoArgs,
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetIn(std.stdin)
	root.SetErr(std.stderr)
	root.SetVersionTemplate("{{.Name}} {{.Version}}\n")
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return &usageError{cmd.CommandPath(), err.Error()}
	})
	root.AddCommand(newSum(std), newServe(std), newWork(std), newStatus(), newCancel(std), newDead(std), newPurge(), newMan(root))
	return root
}

// helpWithStatus puts the exit statuses at the end of the help of cmd.
func helpWithStatus(cmd *cobra.Command) {
	cmd.SetHelpTemplate(cmd.HelpTemplate() + "\nExit status:\n" + cmd.Annotations[exitStatus] + "\n")
}

// version is the module's version as the go command recorded it in the binary.
func version() string {
	v := "(unknown)"
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		v = info.Main.Version
	}
	return v + " " + runtime.Version()
}
