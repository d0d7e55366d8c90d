package limit

import "time"

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

// A worker may keep a permit that others wait for, for QuantumTime or for QuantumTasks tasks,
// whichever ends first: a hand-over takes about a microsecond. QuantumTasks matters in a
// synctest bubble, where the clock stands still.
const (
	QuantumTime  = 100 * time.Microsecond
	QuantumTasks = 1000
)

// A Quantum measures how long a worker has had its permit. The zero Quantum is used up.
type Quantum struct {
	start time.Duration // when the worker got the permit, by Clock
	tasks int           // since then, that it has run under pressure
}

// Start starts q, as the worker gets a permit.
func (q *Quantum) Start() { *q = Quantum{start: Clock()} }

// Age returns how long the worker has had the permit.
func (q *Quantum) Age() time.Duration { return Clock() - q.start }

// Lasts reports whether the worker may run another task on its permit, under pressure p. It
// has run so many tasks since Lasts was called before. When the quantum is used up, the worker
// calls Yield, which may let it keep the permit.
func (q *Quantum) Lasts(p Pressure, tasks int) bool {
	if p != Contended {
		return p == None
	}
	q.tasks += max(1, tasks)
	age := q.Age() // negative after Start in another synctest bubble
	return q.tasks < QuantumTasks && 0 <= age && age < QuantumTime
}

// epoch is where Clock starts.
var epoch = time.Now()

// Clock returns a time that is read faster than time.Now, and takes less memory.
func Clock() time.Duration { return time.Since(epoch) }
