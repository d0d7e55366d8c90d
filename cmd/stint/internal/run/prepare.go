package run

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"

	"github.com/stint-go/stint/cmd/stint/internal/console"
	"github.com/stint-go/stint/cmd/stint/internal/interrupt"
	"github.com/stint-go/stint/cmd/stint/internal/items"
	"github.com/stint-go/stint/cmd/stint/internal/machine"
)

const (
	localBlock      = 1 << 20   // of --pipe
	argumentReserve = 4096      // bytes of the system's limit on arguments that stay free
	maxItems        = 128 << 10 // bytes of the items of a job: as xargs, enough to make starts cheap
)

// prepare checks the options that need more than a look at flags.
func (r *Runner) prepare() (err error) {
	r.command = newCommand(&r.Options)
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
	if r.Block == 0 && r.Server.URL == "" {
		r.Block = localBlock
	}
	if r.ColSep != "" {
		if r.input.ColSep, err = regexp.Compile(r.ColSep); err != nil {
			return errors.New("invalid argument " + console.Quote(r.ColSep) + " for --colsep: " + err.Error())
		}
		if r.input.ColSep.MatchString("") {
			return errors.New("invalid argument " + console.Quote(r.ColSep) + " for --colsep: it matches nothing between any two bytes; a special character needs a backslash, such as '\\|'")
		}
	}
	if r.Fit {
		r.fit()
	}
	if r.Server.URL != "" {
		return r.prepareRemote()
	}
	return nil
}

// warnOfPlaceholders says that a placeholder stands for an item that no job has. It is empty, as
// for GNU parallel: "rm -r {1}/{3}" with two lists is perhaps not what the user wants.
func (r *Runner) warnOfPlaceholders() {
	if r.Pipe || r.Fit || r.ColSep != "" || r.Quiet { // the number of items depends on the input
		return
	}
	n := max(1, len(r.Files)+len(r.Lists)) * max(1, r.MaxArgs)
	switch p := r.command.beyond(n); {
	case p == "":
	case n == 1:
		r.console.Message("warning: " + p + " is empty: each job has one item; --colsep splits items, --max-args gives jobs several")
	default:
		r.console.Message(fmt.Sprintf("warning: %s is empty: each job has at most %d items", p, n))
	}
}

// warnOfNothing says that a run which resumes without a command had no items: the log has the
// commands, but does not start them.
func (r *Runner) warnOfNothing() {
	r.mu.Lock()
	c := r.counts
	r.mu.Unlock()
	if (r.Resume || r.ResumeFailed) && len(r.Command) == 0 && c.skipped+c.succeeded+c.failed == 0 && !r.Quiet {
		r.console.Message("warning: there were no items: to resume, give the command and the items of the run before")
	}
}

// prepareRemote checks what only workers limit.
func (r *Runner) prepareRemote() (err error) {
	switch {
	case r.Block == 0:
		r.Block = remoteBlock
	case r.Block > maxBlock:
		return errors.New("--block: with --cluster a block has at most 640K")
	}
	if r.Dir != "" {
		r.Dir, err = filepath.Abs(r.Dir)
	}
	return err
}

// fit gives each job as many items as the system's limit allows.
func (r *Runner) fit() {
	args, env := r.command.expand(&job{}, 1<<62, 1<<30)
	fixed := argumentReserve
	for _, list := range [][]string{args, env, r.command.env} {
		for _, s := range list {
			fixed += len(s) + 1 + pointerSize
		}
	}
	r.input.Budget = max(1, min(maxArguments()-fixed, maxItems))
	r.input.Jobs = r.Jobs
	if r.Jobs == 0 {
		r.input.Jobs = machine.CPUs()
	}
	r.input.Cost = r.command.cost
}

const pointerSize = 8

// beyond is Beyond of the command.
func (c *command) beyond(n int) string {
	switch {
	case c.template != nil:
		return c.template.Beyond(n)
	case c.script != nil:
		return c.script.Beyond(n)
	}
	return ""
}

// cost returns the bytes that an item adds to the arguments.
func (c *command) cost(item string) int {
	switch {
	case c.template != nil:
		return c.template.Cost(item)
	case c.script != nil:
		return c.script.Cost(item)
	}
	return len(item) + 1
}

// An inputFile is a file, perhaps a pipe, whose reader fails when the run ends.
type inputFile struct {
	io.Reader
	io.Closer
}

// isTyped reports whether somebody types the input.
func (r *Runner) isTyped() bool {
	return (len(r.Files)+len(r.Lists) == 0 || slices.Contains(r.Files, "-")) && console.IsTerminal(r.std.Stdin)
}

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
	o.Stdin = interrupt.NewReader(ctx, r.std.Stdin)
	o.Open = func(name string) (io.ReadCloser, error) {
		f, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		return inputFile{interrupt.NewReader(ctx, f), f}, nil
	}
	source, err := interrupt.Call(ctx, func() (*items.Items, error) { return items.Open(o) })
	if err != nil {
		return nil, inputError(err)
	}
	r.counts.total = source.Total()
	return source, nil
}
