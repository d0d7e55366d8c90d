package command

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/stint-go/stint/cmd/stint/internal/console"
)

const (
	reserve  = 4096      // bytes of the system's limit on arguments that stay free
	maxItems = 128 << 10 // bytes of the items of a job with -X: as xargs, enough to make starts cheap
)

// maxSeq and maxSlot have as many digits as any numbers of jobs and slots.
const maxSeq, maxSlot = 1 << 62, 1 << 30

// Budget returns how many bytes the items of a job may have, as Cost counts them, so that the
// system starts it; 0: any, and TooLong tells. With fit, jobs get as many items as possible.
func (c *Command) Budget(fit bool) int {
	args, env := c.expand(nil, maxSeq, maxSlot)
	more, _ := c.expand(make([]string, 9), maxSeq, maxSlot)
	budget := c.room() - size(args) - size(env)
	if c.template == nil && len(more[2]) > len(args[2]) { // all items are in the script, which is an argument
		budget = min(budget, MaxArgument()-len(args[2]))
	}
	switch {
	case fit:
		budget = min(budget, maxItems)
	case c.Beyond(1) != "": // a job with fewer items would do something else
		return 0
	}
	return max(1, budget)
}

// room returns how many bytes the arguments of a job, and variables of its own, may have.
func (c *Command) room() int { return maxArguments(size(c.env)) - reserve }

// TooLong returns an error if the system would not start a job that has these items.
func (c *Command) TooLong(items []string) error {
	args, env := c.expand(items, maxSeq, maxSlot)
	all := append(args, env...)
	longest := slices.MaxFunc(all, func(a, b string) int { return cmp.Compare(len(a), len(b)) })
	most := MaxArgument()
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

// Beyond returns a placeholder for an item that a job with n items does not have, or "".
func (c *Command) Beyond(n int) string {
	switch {
	case c.template != nil:
		return c.template.Beyond(n)
	case c.script != nil:
		return c.script.Beyond(n)
	}
	return ""
}

// Cost returns the bytes that an item adds to the arguments.
func (c *Command) Cost(item string) int {
	switch {
	case c.template != nil:
		return c.template.Cost(item)
	case c.script != nil:
		return c.script.Cost(item)
	}
	return len(item) + 1
}
