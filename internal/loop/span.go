package loop

import (
	"context"
	"sync/atomic"

	"github.com/stint-go/stint/internal/task"
)

// A Job is what the calls of a Loop do, and who is told how they end.
type Job interface {
	// Calls makes the call for s.At, and then for each further index that s.Begin
	// allows. It returns the first error, and is called again for what is left.
	//
	// The loop over the indexes is the job's, because a call through one more
	// function is as much as a short item costs. Methods of the job fit; in a
	// function literal Begin may be left as a call.
	Calls(ctx context.Context, s *Span) error
	// Failed is told how the call for i ended that did not return nil, and reports
	// whether the loop stops. For a panic it runs inside the deferred call.
	Failed(i int, o task.Outcome) (stop bool)
	// Abandoned is told that the engine was shut down before every index was
	// given out.
	Abandoned()
}

// A Span is the indexes that a worker has taken at once, to call one after the
// other. Nobody else can have them, so they are few.
type Span struct {
	At  int // the index in hand, the last that was begun
	end int

	halt *atomic.Uint32 // of the loop: what keeps it from going on
}

// What is in Loop.halt.
const (
	stopped = 1 << iota // no call begins any more
	lowered             // more permits are out than the limit allows; the limiter's bit
	raised              // the limit is above the number of processors: no spans; the limiter's bit
	wanted              // a worker has found nothing while others have wide spans
)

// Begin reports whether the call for i, the index after s.At, is to be made: i is
// in the span, the loop goes on, nobody wants what is in the span, and the limit
// has not become smaller. It counts the call as begun.
func (s *Span) Begin(i int) bool {
	if i >= s.end || s.halt.Load() != 0 {
		return false
	}
	s.At = i
	return true
}

// All begins what is left of s after At, and returns the indexes from At on, which
// the job calls at once.
func (s *Span) All() (lo, hi int) {
	lo, s.At = s.At, s.end-1
	return lo, s.end
}

// First begins some calls with s.At, which is begun, and returns the indexes.
func (s *Span) First() (lo, hi int) {
	lo = s.At
	return lo, s.Some(lo + 1)
}

// some is how many short items are begun at once, where that is fine; a power of 2.
const some = 8

// Some begins some calls from i on, the index after s.At, under the conditions of
// Begin, and returns the index after the last of them: i when there is none. Items
// of a nanosecond take less than to ask for each.
//
// They end at a multiple of some, so that what is done in turns is always done for
// the same indexes: branches that depend on an index are predicted by what was
// before, and a loop over math.Pow took 1.5 times as long without.
func (s *Span) Some(i int) (end int) {
	if i >= s.end || s.halt.Load() != 0 {
		return i
	}
	end = i + min(some-i&(some-1), s.end-i)
	s.At = end - 1
	return end
}

// set makes s the n indexes from lo, the first of which is begun at once.
func (s *Span) set(lo, n int) { s.At, s.end = lo, lo+n }

// rest returns how many indexes of s were not begun.
func (s *Span) rest() int { return s.end - s.At - 1 }
