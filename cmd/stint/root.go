package main

import (
	"cmp"
	"context"
	"errors"
	"io"
	"runtime"
	"runtime/debug"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/stint-go/stint/cmd/stint/internal/console"
	"github.com/stint-go/stint/cmd/stint/internal/interrupt"
)

// Exit statuses. A run ended by a signal exits with statusSignal plus its number, as in
// shells: 129 for a hangup, 130 for an interrupt, 131 for a quit, 141 for a broken pipe, 143
// for a termination.
const (
	statusOK     = 0
	statusFailed = 1
	statusUsage  = 2
	statusSignal = 128
)

// execute executes one command line and returns the exit status. It ends early when ctx
// ends or the process gets a signal, and then removes unfinished files. A second signal
// kills the process.
func execute(ctx context.Context, args []string, std console.Streams) int {
	ctx, stop := interrupt.Notify(ctx)
	defer stop()

	root := newRoot(std)
	root.SetArgs(append([]string{}, args...)) // nil would mean os.Args
	out := &recorder{w: std.Stdout}
	root.SetOut(out)
	err := root.ExecuteContext(ctx)
	if err == nil && out.err != nil {
		err = &console.WriteError{Err: out.err}
	}
	if err == nil || ctx.Err() == nil {
		return status(err, console.New(std.Stderr))
	}
	if sig, ok := errors.AsType[interrupt.Signal](context.Cause(ctx)); ok {
		return sig.Status()
	}
	return statusSignal + int(syscall.SIGINT)
}

// recorder keeps the first error of w and hides it from cobra, which would print it in
// its own way.
type recorder struct {
	w   io.Writer
	err error
}

func (r *recorder) Write(b []byte) (int, error) {
	_, err := r.w.Write(b)
	r.err = cmp.Or(r.err, err)
	return len(b), nil
}

// status prints err, unless it has been printed, and returns its exit status.
func status(err error, c *console.Console) int {
	var usage *usageError
	var write *console.WriteError
	var exit *console.ExitError
	switch {
	case err == nil:
		return statusOK
	case errors.As(err, &write) && errors.Is(err, syscall.EPIPE): // no reader: nothing to say
		return statusSignal + int(syscall.SIGPIPE)
	case errors.As(err, &write):
		c.Message(err.Error())
		return statusFailed
	case errors.As(err, &exit):
		if exit.Message != "" {
			c.Message(err.Error())
		}
		return exit.Status
	}
	command := "stint" // cobra's own errors: an unknown command or an unexpected argument
	if errors.As(err, &usage) {
		command = usage.command
	}
	c.Message(err.Error())
	c.Plain("Try '" + command + " --help' for more information.")
	return statusUsage
}

func newRoot(std console.Streams) *cobra.Command {
	root := &cobra.Command{
		Use:   "stint",
		Short: "Run a command for many inputs, or digest many files, on one machine or several",
		Long: `Stint runs many tasks concurrently, as many as is fastest, on this machine or on
the workers of a cluster, and prints their results in order. "stint run" runs a
command for each input. "stint sum" prints and checks digests of files. "stint
advise" measures how many commands should run at once.`,
		Version:       version(),
		Args:          cobra.NoArgs,
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetIn(std.Stdin)
	root.SetErr(std.Stderr)
	root.SetVersionTemplate("{{.Name}} {{.Version}}\n")
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return usage(cmd, err) })
	root.AddCommand(newRun(std), newAdvise(std), newSum(std), newServe(std), newWork(std), newStatus(), newCancel(), newDead(), newPurge(), newMan(root), newWatch(std))
	return root
}

// version returns the module's version as recorded in the binary.
func version() string {
	v := "(unknown)"
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		v = info.Main.Version
	}
	return v + " " + runtime.Version()
}
