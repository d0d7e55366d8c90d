package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/stint-go/stint/cmd/stint/internal/console"
	"github.com/stint-go/stint/cmd/stint/internal/interrupt"
	"github.com/stint-go/stint/cmd/stint/internal/items"
	"github.com/stint-go/stint/cmd/stint/internal/machine"
	"github.com/stint-go/stint/cmd/stint/internal/template"
)

const (
	localBlock      = 1 << 20   // of --pipe
	argumentReserve = 4096      // bytes of the system's limit on arguments that stay free
	maxItems        = 128 << 10 // bytes of the items of a job with -X: as xargs, enough to make starts cheap
	maxText         = 64 << 20  // bytes of a line of input that is no argument
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
	if r.Block == 0 {
		r.Block = localBlock
		if r.Server.URL != "" {
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
	if r.Server.URL != "" && r.Dir != "" {
		r.Dir, err = filepath.Abs(r.Dir)
	}
	return err
}

// operators are words that tell a shell what to do. A program gets them as arguments, which is
// right for some.
var (
	operators    = strings.Fields("> >> < << <<< | |& || && ; & >| 2> 2>> 2>&1 >&2 &> &>>")
	withOperator = strings.Fields("[ ack ag egrep expr fgrep find grep rg ssh test tr zgrep")
)

// warn says what is perhaps not what the user wants.
func (r *Runner) warn() {
	warn := func(broken bool, text string) {
		if broken && !r.Quiet {
			r.console.Message("warning: " + text)
		}
	}
	if !r.Shell && !slices.ContainsFunc(r.Command, func(w string) bool { return slices.Contains(withOperator, filepath.Base(w)) }) {
		i := slices.IndexFunc(r.Command, func(w string) bool { return slices.Contains(operators, w) })
		if i > 0 && !strings.HasPrefix(r.Command[i-1], "-") { // not the value of an option
			warn(true, console.Quote(r.Command[i])+" is an argument of the command; a command for the shell needs -s (--shell)")
		}
	}
	if r.command.template != nil {
		return
	}
	isScript := r.command.script != nil
	warn(isScript && !r.Pipe && r.command.script.Constant(), `the script names no item, by {} or "$1": all jobs are the same`)
	known := functions(r.jobEnv())
	for _, name := range functions(os.Environ()) {
		switch mayCall := r.mayCall(name); {
		case !slices.Contains(known, name):
			warn(mayCall && isScript, "workers do not have the function "+name+": pass it by --env "+template.Quote([]string{"BASH_FUNC_" + name + "%%"}))
		case !strings.HasPrefix(filepath.Base(r.command.name), "bash"):
			warn(mayCall && (isScript || os.Getenv("STINT_SHELL") == ""), "scripts are for "+console.Quote(r.command.name)+", which does not know the function "+name+" of bash")
		}
	}
}

// warnOfPlaceholder says that a placeholder stands for an item that a job does not have. It is
// empty, as for GNU parallel: "rm -r {1}/{3}" with two lists is perhaps not what the user wants.
func (r *Runner) warnOfPlaceholder(text string, seq int64, items int) {
	what := fmt.Sprintf("%d items", items)
	if items == 1 {
		what = "one item"
	}
	advice := ""
	if items == 1 && r.MaxArgs == 0 && r.ColSep == "" {
		advice = "; --colsep splits items, --max-args gives jobs several"
	}
	r.console.Message(fmt.Sprintf("warning: %s is empty: job %d has %s%s", text, seq, what, advice))
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

// bound makes jobs so small that the system starts them.
func (r *Runner) bound() {
	r.input.MaxItem = maxArgument()
	if r.ColSep != "" || r.Trim { // a line is not an argument
		r.input.MaxItem = maxText
	}
	args, env := r.command.expand(&job{}, maxSeq, maxSlot)
	more, _ := r.command.expand(&job{items: make([]string, 9)}, maxSeq, maxSlot)
	budget := r.command.room() - size(args) - size(env)
	if r.command.template == nil && len(more[2]) > len(args[2]) { // all items are in the script, which is an argument
		budget = min(budget, maxArgument()-len(args[2]))
	}
	if r.Fit {
		budget = min(budget, maxItems)
	}
	if r.Fit || r.command.beyond(1) == "" { // or a job with fewer items would do something else
		r.input.Budget = max(1, budget)
	}
	r.input.Cost, r.input.Fit, r.input.Jobs = r.command.cost, r.Fit, r.Jobs
	if r.Jobs == 0 {
		r.input.Jobs = machine.CPUs()
	}
}

// maxSeq and maxSlot have as many digits as any numbers of jobs and slots.
const maxSeq, maxSlot = 1 << 62, 1 << 30

// room returns how many bytes the arguments of a job, and variables of its own, may have.
func (c *command) room() int { return maxArguments(size(c.env)) - argumentReserve }

// tooLong returns an error if the system would not start a job that has these items.
func (c *command) tooLong(items []string) error {
	args, env := c.expand(&job{items: items}, maxSeq, maxSlot)
	all := append(args, env...)
	longest := slices.MaxFunc(all, func(a, b string) int { return cmp.Compare(len(a), len(b)) })
	most := maxArgument()
	what := fmt.Sprintf("an argument of %d bytes is too long, %d are possible", len(longest), most)
	if room := c.room(); len(longest) <= most {
		if size(all) <= room {
			return nil
		}
		what = fmt.Sprintf("arguments of %d bytes are too long, %d are possible", size(all), room)
	}
	const shown = 40
	return errors.New(what + ": " + console.Quote(longest[:min(shown, len(longest))]))
}

// size returns what the system counts for arguments or variables.
func size(list []string) int {
	n := 0
	for _, s := range list {
		n += len(s) + 1 + pointerSize
	}
	return n
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
