package par

import (
	"context"
	"runtime"
	"time"

	"github.com/stint-go/stint/internal/loop"
	"github.com/stint-go/stint/internal/race"
	"github.com/stint-go/stint/internal/task"
)

// A loop starts on the caller's goroutine alone: waking a CPU takes the caller up to 8 µs,
// and 50 to 100 µs pass until that CPU takes part.
const (
	helpersWorthwhile = 60 * time.Microsecond // of work left, for which helpers are called
	minMeasured       = time.Microsecond      // of work done, before anything follows from it
	minPiece          = minMeasured / 2       // of work between two readings of the clock
	maxPiece          = 8 * time.Microsecond
	maxUntimed        = 4096 // items while the clock stands still, as in a synctest bubble
	untimedPiece      = 128  // items in a piece then
	itemsPerHelper    = 8    // so many, and the first of them is a small part
)

// calls is a loop whose calls cannot fail.
type calls struct {
	loop    loop.Loop
	failure failure
}

// Failed records the outcome of a call that did not return.
func (c *calls) Failed(_ int, o task.Outcome) (stop bool) {
	c.failure.add(o)
	return true
}

// Abandoned is never called: there is no engine.
func (c *calls) Abandoned() {}

// run makes the calls of body that begin has not made, and returns when all have returned.
func (c *calls) run(body loop.Body, at start) {
	l := &c.loop
	l.N, l.First, l.Cost, l.Procs, l.Limit = at.n, at.begun, at.cost, at.procs, at.procs
	l.Context, l.Body, l.Compute = context.Background(), body, true
	defer c.failure.raise()
	l.Run()
}

// A start is how far a loop has come on the caller's goroutine alone.
type start struct {
	n     int // items; body may make it smaller
	begun int // items that were called: those before it
	procs int
	cost  int64 // of an item, in picoseconds; 0: unknown
	order bool  // body is called for one item after the other
}

// more reports whether items are left.
func (s *start) more() bool { return s.begun < s.n }

// begin calls body for the first items of a loop, on the caller's goroutine, until the rest
// is worth helpers. body is called with indexes from lo to hi-1.
//
// A loop of few items has helpers from the start: of two long items, running the first alone
// would take half of the time.
func (s *start) begin(body func(lo, hi int)) {
	if s.n > 1 {
		s.procs = runtime.GOMAXPROCS(0)
	}
	alone(func() { s.first(body) })
}

// first is begin without the handling of panics.
func (s *start) first(body func(lo, hi int)) {
	if race.Enabled && splits && !s.order && s.procs > 1 {
		s.split(body)
	}
	switch {
	case !s.more():
	case s.n == 1 || s.procs == 1:
		body(s.begun, s.n)
		s.begun = s.n
	case s.n >= itemsPerHelper*(s.procs-1):
		s.measure(body)
	}
}

// splits makes loops split under the race detector. Tests of other things turn it off.
var splits = true

// split calls body for the first items on two goroutines. Otherwise the race detector would
// find nothing in most tests, whose loops are short.
func (s *start) split(body func(lo, hi int)) {
	end := min(s.n, untimedPiece)
	t := newTeam(2) // so a CPU is idle, even if GOMAXPROCS is 1 by now
	t.run(func() {
		t.both(func() { body(0, end/2) }, func() { body(end/2, end) })
	})
	s.begun = end
}

// worthHelpers reports whether n items of a cost are worth helpers.
func worthHelpers(n int, cost int64) bool {
	return n > 1 && float64(n)*float64(cost) > float64(helpersWorthwhile)*1000
}

// measure calls body for pieces of the loop until the rest is worth helpers. Since long
// items may follow short ones, a piece is at most four times as long as the piece before
// it, and an eighth of the rest unless that is too little to measure.
func (s *start) measure(body func(lo, hi int)) {
	epoch := time.Now()
	read, size := time.Duration(0), 1
	for {
		body(s.begun, s.begun+size)
		s.begun += size
		now := time.Since(epoch)
		left := s.n - s.begun
		part := max(left/8, untimedPiece)
		if passed := now - read; passed > 0 {
			s.cost = max(int64(passed)*1000/int64(size)+1, s.cost/8)
			part = min(max(left/8, s.itemsIn(minPiece)), s.itemsIn(maxPiece))
		}
		switch {
		case left <= 0:
			return
		case now > minMeasured && worthHelpers(left, s.cost):
			return
		case now == 0 && s.begun >= maxUntimed:
			return
		}
		read, size = now, min(4*size, part, left)
	}
}

// itemsIn returns how many items take d, at least 1.
func (s *start) itemsIn(d time.Duration) int { return int(max(1, int64(d)*1000/s.cost)) }
