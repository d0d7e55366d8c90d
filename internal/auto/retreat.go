package auto

import (
	"fmt"
	"time"
)

// stalled takes in that no task has ended for a while though all places were taken:
// they take long, or wait for others that cannot begin, or for a server that hangs.
// It reports whether more may begin, without evidence that this is of use: when one
// ends, the limit is again what it was, if that was found by anything.
func (s *search) stalled(now time.Duration) bool {
	n := s.limit + max(1, s.limit/8)
	if !s.began {
		n = max(n, s.Burst)
	}
	n, _ = s.allowed(min(n, s.most()))
	if n <= s.limit {
		return false
	}
	s.last = now
	if s.began && s.kept == 0 {
		s.kept = s.limit
	}
	s.limit = n
	if !s.began {
		s.rise(n, n)
	}
	s.noted(now, reading{}, "no task has ended for a while")
	return true
}

// restore takes back what stalled has done.
func (s *search) restore(now time.Duration) {
	if s.kept == 0 {
		return
	}
	n := s.kept
	s.kept = 0
	s.move(now, n)
	s.noted(now, reading{}, "tasks end again")
}

// most is how far stalled lets the limit grow.
func (s *search) most() int {
	if s.began {
		return min(twice*s.proven, s.Max)
	}
	return min(beyond*s.Burst, s.Max)
}

// overdue reports whether no task has ended for so long that it counts as a stall.
func (s *search) overdue(now time.Duration) bool {
	return now-s.last >= max(stuck, time.Duration(2*s.window.lasted()))
}

// overloaded takes in that a task ended because there were too many; counted says
// whether its end will be told too. One of many tells nothing: other clients of the
// server may be the cause.
func (s *search) overloaded(now time.Duration, counted bool) {
	if counted { // but for those that a worker has not told before it left
		s.mild = min(s.mild+1, s.limit)
	}
	s.refused++
	if refusal*s.refused < s.limit || s.settle > 1 && s.limit < s.roof {
		return // few, or of those that began under the higher limit
	}
	s.refused = 0
	s.forbid(now, max(s.limit, s.Min+1))
	if s.limit > s.Min {
		s.retreat(now, fmt.Sprintf("overload with %d", s.limit))
	}
}

// overloads takes those of n tasks out that have ended by an overload.
func (s *search) overloads(n int) int {
	if s.ends += n; s.ends >= s.limit {
		s.ends, s.refused = 0, 0
	}
	m := min(n, s.mild)
	s.mild -= m
	if s.settle > 1 {
		s.settle = max(1, s.settle-m)
	}
	return m
}

// forbid makes n the roof for a while, which doubles when it is met again soon after.
func (s *search) forbid(now time.Duration, n int) {
	if s.roof == 0 && now-s.until < s.wait {
		s.wait = min(2*s.wait, longest)
	} else if s.roof == 0 {
		s.wait = shortly
	}
	s.roof, s.until = n, now+s.wait
}

// retry begins to rise again when the time of the roof is over.
func (s *search) retry(now time.Duration) {
	if s.roof == 0 || now < s.until {
		return
	}
	s.roof = 0
	if top, _ := s.allowed(min(2*s.limit, s.Max)); top > s.limit+s.limit/8 { // what a ceiling allows varies
		s.prior, s.settle = reading{}, 0
		s.window.open(now)
		s.rise(s.limit, top)
		s.noted(now, reading{}, "to see whether more can be borne again")
	}
}

// retreat lowers the limit for a reason that throughput does not show.
func (s *search) retreat(now time.Duration, reason string) {
	n := between(s.Min, int(backoff*float64(s.limit)), s.limit)
	s.phase, s.hold, s.pause, s.up, s.steps = Holding, 4, 4, true, 1
	s.at, s.base, s.kept = n, reading{}, 0
	s.move(now, n)
	s.noted(now, reading{}, reason)
}

// allowed is the largest limit up to n that the ceilings allow, and which of them it
// is if that is less.
func (s *search) allowed(n int) (most int, reason string) {
	if s.room == nil || n <= s.limit {
		return n, ""
	}
	return s.room(s.limit, n)
}
