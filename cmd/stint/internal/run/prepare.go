package run

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"

	"github.com/stint-go/stint/cmd/stint/internal/console"
	"github.com/stint-go/stint/cmd/stint/internal/interrupt"
	"github.com/stint-go/stint/cmd/stint/internal/items"
	"github.com/stint-go/stint/cmd/stint/internal/machine"
	"github.com/stint-go/stint/cmd/stint/internal/run/command"
)

const (
	localBlock  = 1 << 20   // of --pipe
	remoteBlock = 512 << 10 // with --cluster, if a message may be so large
	maxText     = 64 << 20  // bytes of a line of input that is no argument
)

// prepare checks the options that need more than a look at flags.
func (r *Runner) prepare() (err error) {
	r.Remote = r.Server.URL != ""
	r.NoWait = r.Remote
	r.command = command.New(r.Spec)
	r.input = items.Options{
		Files: r.Files, Lists: r.Lists, Delimiter: '\n', Trim: r.Trim, MaxArgs: r.MaxArgs,
	}
	if r.Delimiter != "" {
		if r.input.Delimiter, err = items.ParseDelimiter(r.Delimiter); err != nil {
			return errors.New("invalid argument " + console.Quote(r.Delimiter) + " for --delimiter: " + err.Error())
		}
	}
	if r.Null {
		r.input.Delimiter = 0
	}
	if r.Block == 0 {
		r.Block = localBlock
		if r.Remote {
			r.Block = remoteBlock
		}
	}
	if r.ColSep != "" {
		if r.input.ColSep, err = regexp.Compile(r.ColSep); err != nil {
			return errors.New("invalid argument " + console.Quote(r.ColSep) + " for --colsep: " + err.Error())
		}
		if r.input.ColSep.MatchString("") {
			return errors.New("invalid argument " + console.Quote(r.ColSep) + " for --colsep: it matches nothing between any two bytes; a special character needs a backslash, such as '\\|'")
		}
	}
	if !r.Pipe {
		r.bound()
	}
	if r.Remote && r.Dir != "" {
		r.Dir, err = filepath.Abs(r.Dir)
	}
	return err
}

// warn says what is perhaps not what the user wants.
func (r *Runner) warn() {
	if r.command.IsConstant() && !r.Quiet {
		r.console.Message(`warning: the script names no item, by {} or "$1": all jobs are the same`)
	}
}

// bound makes jobs so small that the system starts them.
func (r *Runner) bound() {
	r.input.MaxItem = command.MaxArgument()
	if r.ColSep != "" || r.Trim { // a line is not an argument
		r.input.MaxItem = maxText
	}
	r.input.Budget, r.input.Cost, r.input.Fit, r.input.Jobs = r.command.Budget(r.Fit), r.command.Cost, r.Fit, r.Jobs.N()
	if r.input.Jobs == 0 {
		r.input.Jobs = machine.CPUs()
	}
}

// readsStdin reports whether standard input is the input, or a part of it.
func (r *Runner) readsStdin() bool {
	return len(r.Files)+len(r.Lists) == 0 || slices.Contains(r.Files, "-")
}

// isTyped reports whether somebody types the input.
func (r *Runner) isTyped() bool { return r.readsStdin() && console.IsTerminal(r.std.Stdin) }

// open opens the input. With --pipe there are no items.
func (r *Runner) open(ctx context.Context) (*items.Items, error) {
	if r.Pipe {
		r.counts.total = -1
		return nil, nil
	}
	if r.isTyped() && !r.Quiet {
		r.console.Message("reading items from the terminal, one a line, until Ctrl-D")
	}
	o := r.input
	o.Open = func(name string) (io.ReadCloser, error) {
		if name == "-" {
			return io.NopCloser(interrupt.NewReader(ctx, r.std.Stdin)), nil
		}
		f, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		return struct { // perhaps a pipe, whose reader fails when the run ends
			io.Reader
			io.Closer
		}{interrupt.NewReader(ctx, f), f}, nil
	}
	source, err := interrupt.Call(ctx, func() (*items.Items, error) { return items.Open(o) })
	if err != nil {
		return nil, inputError(err)
	}
	r.counts.total = source.Total()
	return source, nil
}
