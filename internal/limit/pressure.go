package limit

// Signs are what a holder of a permit reads between two tasks: the numbers of waiters of
// either priority, and whether more permits are out than the limit allows.
type Signs int64

// over is the bit that is set while the limit is exceeded, after Set has made it smaller. The
// bits below count waiters, and those from lowWaiters on count waiters of low priority.
const (
	over       Signs = 1 << 30
	lowWaiters       = 32
)

// Over reports whether more permits are out than the limit allows.
func (s Signs) Over() bool { return s&over != 0 }

// waiters returns how many waiters have the given priority.
func (s Signs) waiters(low bool) int {
	if low {
		return int(s >> lowWaiters)
	}
	return int(s & (over - 1))
}

// Pressure is how soon a holder should give its permit up.
type Pressure int

const (
	None      Pressure = iota // it may keep the permit
	Contended                 // at the end of its Quantum: others wait that have its priority
	Urgent                    // before its next task: the limit is exceeded, or its priority is low, and others wait whose is not
)

// Pressure returns the pressure on a holder with the given priority. own is the number of
// waiters with that priority that wait for the holder's own loop or engine.
func (s Signs) Pressure(low bool, own int) Pressure {
	switch {
	case s == 0:
		return None
	case s.Over(), low && s.waiters(false) > 0:
		return Urgent
	case s.waiters(low) > own:
		return Contended
	}
	return None
}

// Signs returns the signs of l, without a lock. While they stay the same, so does Pressure.
func (l *Limiter) Signs() Signs { return Signs(l.signs.Load()) }

// Pressure is that of the signs of l.
func (l *Limiter) Pressure(low bool, own int) Pressure { return l.Signs().Pressure(low, own) }
