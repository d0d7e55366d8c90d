package loop

import (
	"context"
	"sync/atomic"

	"github.com/stint-go/stint/internal/limit"
)

// A Claim is indexes that a worker has claimed, and calls one after the other.
type Claim struct {
	At      int // the index in hand: its call has started
	last    int // that Next allows
	signs   *atomic.Uint32
	limiter *limit.Limiter
}

// The signs of a loop are what workers look at between two calls.
const (
	stopped = 1 << iota // no more calls start
	wanted              // a worker has found nothing to claim: others return what is left of their claims
)

// Next moves At on, and reports false if the calls are made, there is a sign, or the
// limit is exceeded. It is inlined.
func (c *Claim) Next() bool {
	if c.At >= c.last || c.signs.Load() != 0 || c.limiter.Signs().Over() {
		return false
	}
	c.At++
	return true
}

// Calls makes the calls of a claim by f. A function that does so itself saves a call.
func Calls(f func(ctx context.Context, i int) error) func(context.Context, *Claim) error {
	return func(ctx context.Context, c *Claim) error {
		for {
			if err := f(ctx, c.At); err != nil {
				return err
			}
			if !c.Next() {
				return nil
			}
		}
	}
}
