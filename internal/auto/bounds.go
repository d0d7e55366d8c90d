package auto

import "time"

// within returns the limit within the bounds that is nearest to n.
func (s *search) within(n int) int {
	if s.paused {
		return 0
	}
	return clamp(s.Min, n, s.Max)
}

// isBound reports whether the bounds hold the limit: the search wants another one.
func (s *search) isBound() bool { return s.within(s.limit) != s.limit }

// setBounds keeps the limit between low and high, or at 0 if both are 0. The search still wants
// the limit that it has found: when bounds allow that again, it returns at once.
func (s *search) setBounds(now time.Duration, low, high int) {
	was, oldMax := s.within(s.limit), s.Max
	if s.paused = high == 0; !s.paused {
		s.Min, s.Max = low, high
	}
	if s.phase == Fixed {
		return
	}
	if s.phase == Probing && s.isBound() { // no conclusion
		s.returnToHeld(now, 1)
	}
	switch {
	case !s.paused && s.limit < low && low < high: // the search goes on from there
		s.held = low
		s.returnToHeld(now, 1)
		s.restart(now, "the minimum is higher")
	case s.isBound():
		s.suspend(now)
	case s.phase == Holding && s.limit == oldMax && oldMax < high:
		s.restart(now, "the maximum is higher")
	case s.limit == was:
	case s.phase == SlowStart:
		s.window.open(now)
	default:
		want := s.limit
		s.limit = was
		s.move(now, want)
	}
}
