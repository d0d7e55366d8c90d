package par

import (
	"context"
	"fmt"

	"github.com/stint-go/stint/internal/loop"
)

// Range calls f concurrently for pieces of the indexes from 0 to n-1, and returns when all
// calls have returned. A piece is the indexes from lo to hi-1. Each index is in exactly one
// piece, and no piece is empty. Pieces take some microseconds, less at the beginning and
// the end of the loop, so there may be thousands; on one CPU there is one. A piece is not
// divided further while f runs: use Each if some indexes cost far more than those before
// them.
//
// Range panics if n is negative or f is nil, and with a *stint.PanicError if f panics.
func Range(n int, f func(lo, hi int)) {
	check("Range", "f", f == nil)
	if n < 0 {
		panic(fmt.Sprintf("par: Range: n is %d, want 0 or more", n))
	}
	at := start{n: n}
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

func (c *rangeCall) Calls(_ context.Context, s *loop.Batch) error {
	c.f(s.All())
	return nil
}
