package par

import (
	"context"
	"fmt"

	"github.com/stint-go/stint/internal/loop"
)

// Range calls f for pieces of the indexes from 0 to n-1, each from lo to hi-1, and
// returns when all calls have returned. Each index is in one piece; no piece is
// empty. On one processor there is one piece; otherwise they are short at the
// beginning and the end of a loop, and take some microseconds in between, so there
// may be thousands. A piece cannot be divided any more once f has it: indexes that
// cost much more than those before them are better off with Each.
//
// Range panics if n is negative or f is nil, and with a *PanicError if f does.
func Range(n int, f func(lo, hi int)) {
	check("Range", "f", f == nil)
	if n < 0 {
		panic(fmt.Sprintf("par: Range: n is %d, want 0 or more", n))
	}
	at := start{n: n, code: code(f)}
	at.begin(f)
	if at.more() {
		c := &rangeCall{f: f}
		c.run(c, at)
	}
}

// A rangeCall is one call of Range.
type rangeCall struct {
	f func(lo, hi int)
	calls
}

func (c *rangeCall) Calls(_ context.Context, s *loop.Span) error {
	c.f(s.All())
	return nil
}
