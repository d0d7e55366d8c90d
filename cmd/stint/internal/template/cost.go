package template

import (
	"math"
	"slices"
	"strconv"
)

// A cost is what an item adds to a command, at most: bytes that do not depend on the
// item, and the item itself some times.
type cost struct{ fixed, times int }

// overhead is what the system keeps of an argument or a variable besides its text: a
// NUL and a pointer.
const overhead = 1 + 8

// Cost returns the bytes that an item adds to the arguments and the variables of a job, or
// more. Without items they are those of Expand(nil, seq, slot). In an argument with both {}
// and {1}, Cost assumes that no other item is longer than this one. An empty item counts as
// one byte: its {//} is ".".
func (c *cost) Cost(item string) int { return c.fixed + c.times*max(1, len(item)) }

// addArgument adds an argument of a template. Any item may be the one that {1} means.
func (c *cost) addArgument(parts []part) {
	repeated := slices.ContainsFunc(parts, part.all)
	if repeated {
		c.fixed += overhead
	}
	for _, p := range parts {
		switch {
		case p.all() || p.n != 0:
			c.times++
		case !repeated:
		case p.form == literal:
			c.fixed += len(p.text)
		default: // {#} or {%}
			c.fixed += len(strconv.Itoa(math.MaxInt))
		}
	}
}

// addScript adds the positional parameter of an item, and what refers to it.
func (c *cost) addScript(parts []part) {
	c.fixed += overhead
	c.times++
	for _, p := range parts {
		switch {
		case p.form == literal || p.form >= seq:
		case p.form == whole:
			c.fixed += len("${1234567890}")
		default: // a variable, and its name in the text
			c.fixed += overhead + 2*len(`${STINT_1234567890_BASE_NOEXT}" "`)
			c.times++
		}
	}
}
