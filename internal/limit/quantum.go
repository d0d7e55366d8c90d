package limit

import "time"

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
	return p == None || p == Contended && q.use(tasks)
}

// use adds tasks that were run under pressure, and reports whether something is left.
func (q *Quantum) use(tasks int) bool {
	q.tasks += max(1, tasks)
	age := q.Age() // negative after Start in another synctest bubble
	return q.tasks < QuantumTasks && 0 <= age && age < QuantumTime
}

// epoch is where Clock starts.
var epoch = time.Now()

// Clock returns a time that is read faster than time.Now, and takes less memory.
func Clock() time.Duration { return time.Since(epoch) }
