package run

import (
	"context"
	"errors"
	"regexp"

	"github.com/stint-go/stint/cmd/stint/internal/console"
	"github.com/stint-go/stint/cmd/stint/internal/interrupt"
	"github.com/stint-go/stint/cmd/stint/internal/items"
	"github.com/stint-go/stint/cmd/stint/internal/machine"
)

const argumentReserve = 4096 // bytes of the system's limit on arguments that stay free

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
	if r.ColSep != "" {
		if r.input.ColSep, err = regexp.Compile(r.ColSep); err != nil {
			return errors.New("invalid argument " + console.Quote(r.ColSep) + " for --colsep: " + err.Error())
		}
	}
	if r.Fit {
		r.fit()
	}
	return nil
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
	r.input.Budget = max(1, maxArguments()-fixed)
	r.input.Jobs = r.Jobs
	if r.Jobs == 0 {
		r.input.Jobs = machine.CPUs()
	}
	r.input.Cost = r.command.cost
}

const pointerSize = 8

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

// open opens the input. With --pipe there are no items.
func (r *Runner) open(ctx context.Context) (*items.Items, error) {
	if r.Pipe {
		return nil, nil
	}
	o := r.input
	o.Stdin = interrupt.NewReader(ctx, r.std.Stdin)
	source, err := interrupt.Call(ctx, func() (*items.Items, error) { return items.Open(o) })
	if err != nil {
		return nil, inputError(err)
	}
	r.counts.total = source.Total()
	return source, nil
}
