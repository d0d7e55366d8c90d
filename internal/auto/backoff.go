package auto

import (
	"fmt"
	"math/bits"
	"time"
)

const (
	backoffFactor  = 0.7              // of the limit: what a backoff leaves
	overloadShare  = 20               // of tasks: one of so many may be overloaded
	sameShare      = 0.8              // of the share of overloaded tasks before, with which a quarter of the limit has not helped: of load, little would be left
	tolerantTime   = time.Minute      // for which more may be overloaded then
	climbTime      = time.Second      // in which a ceiling that was met again rises by
	climbShare     = 8                // one of so many: less than the growth of a fifth that some servers refuse
	minCeilingTime = time.Second      // for which a ceiling holds at first
	maxCeilingTime = 10 * time.Second // for which one holds at most, and after whose end the next is no repetition
)

// An overload is the evidence that the limit is too high. A server may refuse a few tasks for other
// reasons than load.
type overload struct {
	bucket
	share    float64 // of tasks that were overloaded when the bucket was full, at limit
	limit    int     // 0: it was not full since the ceiling was lifted
	oneOf    int     // one task of so many may be overloaded until tolerant
	tolerant time.Duration
	lowered  time.Duration // when the limit fell last
	slowest  time.Duration // that a failed task took, less an eighth for each since
}

// A ceilings is the limit that overloaded, or was not allowed, and what became of those before.
type ceilings struct {
	ceiling     int           // no probe reaches this limit; 0: none
	retryAt     time.Duration // when it is lifted
	ceilingTime time.Duration // for which it holds
	rises       bool          // it has risen
	fell        int           // the limit that met it first
	stale       int           // tasks still to finish that started before the last backoff
	backoffs    uint64        // so far
}

// A bucket leaks as many overloaded tasks as may be.
type bucket struct {
	excess int           // each overloaded task adds tolerance, and each finished task takes 1 off
	tasks  int           // overloaded, since excess was 0
	until  time.Duration // the latest time that these ask for
}

// tolerance returns the number of tasks of which one may be overloaded.
func (o *overload) tolerance(now time.Duration) int {
	if now < o.tolerant {
		return o.oneOf
	}
	return overloadShare
}

// ended counts n tasks that are no longer there, whether they have failed or not.
func (s *search) ended(now time.Duration, n int) {
	s.last = now
	s.endStall(now)
	s.stale = max(0, s.stale-n)
	if o := &s.overload; o.excess > 0 {
		if o.excess -= n; o.excess <= 0 {
			o.bucket = bucket{}
		}
	}
}

// failed counts n tasks that have failed. They are no throughput: a higher limit that only makes
// more tasks fail is no better. If more fail in a row than may run, the window is suspended until
// one succeeds. took is their total duration, 0 if unknown.
func (s *search) failed(now time.Duration, n int, took time.Duration) {
	s.ended(now, n)
	s.overload.slowest = max(took/time.Duration(n), s.overload.slowest/8*7)
	if s.settling > 1 {
		s.settling = max(1, s.settling-n)
	}
	if s.failures += n; s.failures > s.limit {
		s.suspend(now)
	}
}

// overloaded notes that a task has failed because of excess load; failed will count it, too.
// until is when the server wants to be asked again.
func (s *search) overloaded(now, until time.Duration) {
	o, one := &s.overload, s.overload.tolerance(now)
	if s.limit < s.ceiling && (s.stale > 0 || now < o.lowered+o.slowest) { // it started under the higher limit
		s.retryAt = max(s.retryAt, until)
		return
	}
	o.tasks++
	o.excess += one
	o.until = max(o.until, until)
	if o.excess <= one*s.enoughOverloads() {
		return
	}
	s.limit = min(s.limit, s.Max) // no more have run, though the search may want more
	share := float64(o.tasks) / float64(one*o.tasks-o.excess+1)
	until, before, at := o.until, o.share, o.limit
	o.bucket = bucket{}
	switch lower := at > 0 && (4*s.limit <= at || s.limit == s.Min); {
	case lower && share < 0.5 && share > sameShare*before && until <= now: // no outage, not load, and the server asks for nothing
		o.tolerant, o.oneOf = now+tolerantTime, max(2, int(1/(1.5*share)))
		s.liftCeiling(now, "the share of overloaded tasks did not fall with the limit: it is not load")
		return
	case lower || s.limit > at:
		o.share, o.limit = share, s.limit
	}
	s.setCeiling(now, max(s.limit, s.Min+1))
	s.retryAt = max(s.retryAt, until)
	if s.limit > s.Min {
		o.lowered = now
		s.backOff(now, fmt.Sprintf("overload with %d", s.limit))
	}
}

// enoughOverloads returns how many overloaded tasks the bucket holds: one at least, which may be
// chance, and more the faster tasks finish: if one task of 30 is overloaded, chance fills the bucket
// about once a minute at any throughput. A generation fills it alone only if its share is too high.
func (s *search) enoughOverloads() int {
	return max(1, bits.Len(uint(s.throughput)), s.limit/overloadShare)
}

// setCeiling makes n the ceiling. If the last ceiling was lifted or raised recently, n holds for
// twice as long.
func (s *search) setCeiling(now time.Duration, n int) {
	if s.ceiling == 0 || s.rises {
		if s.rises { // otherwise the last one was lifted, and the limit may not have come far
			s.fell /= 2
		}
		s.fell, s.ceilingTime = max(s.fell, n), min(2*s.ceilingTime, maxCeilingTime)
		if now-s.retryAt >= maxCeilingTime || s.ceilingTime == 0 { // it is the first for long
			s.fell, s.ceilingTime = n, minCeilingTime
		}
		s.rises = false
	}
	s.ceiling, s.retryAt = n, now+s.ceilingTime
}

// raiseCeiling is called when the time of the ceiling is over. The first ceiling is lifted. Further
// ones rise, to half of the limit that was too high at first, and then little by little, each time
// when the limit has met them: some servers refuse growth.
func (s *search) raiseCeiling(now time.Duration) {
	switch half := s.fell / 2; {
	case s.ceilingTime == minCeilingTime:
		s.liftCeiling(now, "a higher limit is tried again")
		return
	case s.ceiling < half:
		s.ceiling = half
		s.restart(now, "half of the limit that was too high is tried again")
	case s.phase != Holding || s.held < s.ceiling-1-s.ceiling/climbShare:
		return
	default:
		s.ceiling += max(1, s.ceiling/climbShare)
		if n, _ := s.allowed(s.highest()); n > s.held {
			s.try(now, n)
		}
	}
	s.retryAt, s.rises = now+climbTime, true
}

// liftCeiling removes the ceiling. What was overloaded until then is forgotten.
func (s *search) liftCeiling(now time.Duration, reason string) {
	s.ceiling, s.overload.limit, s.overload.bucket = 0, 0, bucket{}
	s.restart(now, reason)
}

// restart starts slow start again, at the limit.
func (s *search) restart(now time.Duration, reason string) {
	top, short := s.allowed(min(2*s.limit, s.highest()))
	if short == "" && top > s.limit || top > s.limit+s.limit/8 { // as in nextRound
		s.settling, s.alarmed = 0, false
		s.window.open(now)
		s.phase, s.start = SlowStart, slowStart{from: s.limit, top: top, alarms: alarms{pace: pace{last: now}}}
		s.noted(now, reading{}, reason)
	}
}

// backOff lowers the limit for a reason that throughput does not show.
func (s *search) backOff(now time.Duration, reason string) {
	s.backoffs++
	s.limit = min(s.limit, s.Max)
	n := int(backoffFactor * float64(s.limit))
	if s.phase == Probing && s.up { // as if the probe had failed
		n = max(n, s.held)
	}
	n = clamp(s.Min, n, s.limit)
	s.held, s.known, s.up = n, table{}, true
	s.stale = s.limit
	s.returnToHeld(now, 4)
	s.noted(now, reading{}, reason)
}
