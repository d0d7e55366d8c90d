package loop

import (
	"context"
	"sync/atomic"

	"github.com/stint-go/stint/internal/task"
)

// A Body makes the calls of a Loop, and is told how they end.
type Body interface {
	// Calls makes the call for b.At, and then for each further index that b.Begin
	// allows. It returns the first error, and is called again for the indexes left.
	//
	// The loop over the indexes is the body's, because a call through one more
	// function costs as much as a short item. Begin is inlined in methods of the body;
	// in a function literal it may not be.
	Calls(ctx context.Context, b *Batch) error
	// Failed is told how the call for i ended if it did not return nil, and reports
	// whether the loop stops. For a panic it runs inside the deferred call.
	Failed(i int, o task.Outcome) (stop bool)
	// Abandoned is told that the engine was shut down before every index was claimed.
	Abandoned()
}

// A Batch is a range of indexes that one worker has taken to call one after the other. No
// other worker can take them. It has one index unless the loop has Compute.
type Batch struct {
	At    int // the index that was started last
	end   int
	State any // what the body keeps for its worker; nil at first, and see Loop.Left

	halt *atomic.Uint32 // Loop.halt
}

// The bits of Loop.halt. Each ends the current batches.
const (
	stopped = 1 << iota // no more calls start
	wanted              // a worker found nothing while others have batches of several indexes
)

// Begin reports whether to make the call for i, the index after b.At: i is in the batch,
// the loop is not stopped, and no other worker wants the rest of the batch. It counts the
// call as started.
func (b *Batch) Begin(i int) bool {
	if i >= b.end || b.halt.Load() != 0 {
		return false
	}
	b.At = i
	return true
}

// All starts all calls from b.At on, and returns their indexes.
func (b *Batch) All() (lo, hi int) {
	lo, b.At = b.At, b.end-1
	return lo, b.end
}

// First starts some calls from b.At on, and returns their indexes.
func (b *Batch) First() (lo, hi int) {
	lo = b.At
	return lo, b.Some(lo + 1)
}

// blockItems is how many items Some starts at once; a power of 2.
const blockItems = 8

// Some starts some calls from i on, the index after b.At, under the conditions of Begin,
// and returns the index after the last of them, which is i if there is none. Asking for
// each item would take longer than an item of a nanosecond.
//
// The calls end at a multiple of blockItems. Branch prediction gains from groups that
// always have the same indexes: otherwise a loop over math.Pow took 1.5 times as long.
func (b *Batch) Some(i int) (end int) {
	if i >= b.end || b.halt.Load() != 0 {
		return i
	}
	end = i + min(blockItems-i&(blockItems-1), b.end-i)
	b.At = end - 1
	return end
}

// set makes b the n indexes from lo, and starts the first.
func (b *Batch) set(lo, n int) { b.At, b.end = lo, lo+n }

// rest returns how many indexes of b were not started.
func (b *Batch) rest() int { return b.end - b.At - 1 }
