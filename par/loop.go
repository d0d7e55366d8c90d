package par

import (
	"context"
	"runtime"
	"time"

	"github.com/stint-go/stint/internal/loop"
	"github.com/stint-go/stint/internal/race"
	"github.com/stint-go/stint/internal/task"
)

// A loop begins on the caller's goroutine alone: to wake a processor takes the
// caller up to 8 µs, and it is 50 to 100 µs until that one takes part, so it must
// be worth it.
const (
	worth  = 60 * time.Microsecond // of work left, that the others are called for
	sample = time.Microsecond      // of work done, before anything is concluded from it
	least  = sample / 2            // of work between two looks at the clock
	most   = 8 * time.Microsecond
	blind  = 4096 // items without a tick of the clock, as in a bubble
	many   = 128  // items for each other processor: the first of them is little
)

// calls is a loop whose calls cannot fail.
type calls struct {
	loop    loop.Loop
	failure failure
}

// Failed takes in how the call for an item ended that did not return.
func (c *calls) Failed(_ int, o task.Outcome) (stop bool) {
	c.failure.add(o)
	return true
}

// Abandoned is never called: there is no engine.
func (c *calls) Abandoned() {}

// run makes the calls of job that begin has left, and returns when all have
// returned.
func (c *calls) run(job loop.Job, at start) {
	l := &c.loop
	l.N, l.First, l.Cost, l.Procs, l.Limit = at.n, at.begun, at.cost, at.procs, at.procs
	l.Context, l.Job, l.Compute = context.Background(), job, true
	defer c.failure.raise()
	l.Run()
	if !c.failure.any() { // otherwise nobody may have looked
		remember(at.code, l.Measured())
	}
}

// A start is how far a loop has come on the caller's goroutine alone.
type start struct {
	n     int    // items; what calls them may make it less
	begun int    // of them, which are those before it
	code  uint64 // of the function that is called for them; 0: not to be remembered
	procs int
	cost  int64 // of an item, in picoseconds; 0: unknown
	order bool  // body is called for one item after the other
}

// more reports whether there is something left.
func (s *start) more() bool { return s.begun < s.n }

// begin calls body for the first items of a loop, on the caller's goroutine, for as
// long as what is left is not worth the help of others. body must keep to the
// indexes from lo to hi-1.
//
// A loop of few items is begun so only when they are known to be short. Otherwise,
// if the first takes as long as all of them should, half the time would be lost.
func (s *start) begin(body func(lo, hi int)) {
	if s.n > 1 {
		s.procs = runtime.GOMAXPROCS(0)
	}
	alone(func() { s.first(body) })
}

// first is begin, without a look at how body ends.
func (s *start) first(body func(lo, hi int)) {
	if race.Enabled && splits && !s.order && s.procs > 1 {
		s.split(body)
	}
	switch {
	case !s.more():
	case s.n == 1 || s.procs == 1:
		body(s.begun, s.n)
		s.begun = s.n
	case s.n >= many*(s.procs-1) || s.short():
		s.measure(body)
		remember(s.code, s.cost)
	}
}

// splits makes loops split where the race detector watches. Tests of other things
// turn it off.
var splits = true

// split calls body for the first items on two goroutines: the race detector sees
// nothing in what one does alone, and most loops in tests are short.
func (s *start) split(body func(lo, hi int)) {
	end := min(s.n, many)
	t := newTeam(2) // who forks once finds the other idle, also when GOMAXPROCS is 1 by now
	t.run(func() {
		t.fork(func() { body(end/2, end) })
		body(0, end/2)
	})
	s.begun = end
}

// short reports whether the loop is known to be too short for help.
func (s *start) short() bool {
	cost, known := recall(s.code)
	return known && !worthHelp(s.n, cost)
}

// worthHelp reports whether n items of a cost are worth the help of others.
func worthHelp(n int, cost int64) bool {
	return n > 1 && float64(n)*float64(cost) > float64(worth)*1000
}

// measure goes on until what is left is worth the help of others. What rides on an
// estimate is four times what it was made from, and an eighth of the loop if that is
// not too little to be timed: items that have been short so far may be followed by
// long ones.
func (s *start) measure(body func(lo, hi int)) {
	epoch := time.Now()
	read, size := time.Duration(0), 1
	for {
		body(s.begun, s.begun+size)
		s.begun += size
		now := time.Since(epoch)
		left := s.n - s.begun
		part := max(left/8, many)
		if passed := now - read; passed > 0 {
			s.cost = max(int64(passed)*1000/int64(size)+1, s.cost/8)
			part = min(max(left/8, s.fit(least)), s.fit(most))
		}
		switch {
		case left <= 0:
			return
		case now > sample && worthHelp(left, s.cost):
			return
		case now == 0 && s.begun >= blind:
			return
		}
		read, size = now, min(4*size, part, left)
	}
}

// fit returns how many items take so long, at least 1.
func (s *start) fit(d time.Duration) int { return int(max(1, int64(d)*1000/s.cost)) }
