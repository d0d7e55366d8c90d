package auto

import (
	"math"
	"time"
)

// A reading is how fast tasks ended while about so many ran.
type reading struct {
	tasks   float64
	time    float64 // nanoseconds
	running float64 // on average
}

// rate is the throughput, in tasks a nanosecond.
func (r reading) rate() float64 { return r.tasks / r.time }

// elasticity is how the throughput followed the number of running tasks from a to
// b: 1 when it rose as much, 0 when it stayed, less when it fell. se is its standard
// error if tasks end independently of each other.
func elasticity(a, b reading) (e, se float64) {
	span := math.Log(b.running / a.running)
	return math.Log(b.rate()/a.rate()) / span, math.Sqrt(1/a.tasks+1/b.tasks) / math.Abs(span)
}

// A window is a reading in the making.
//
// Tasks that begin together end together, so a window begins and ends just before a
// task ends that comes after a pause: between two such swarms, if there are any.
// For the same reason it lasts about as long as its tasks did.
type window struct {
	tasks   float64
	time    float64
	last    time.Duration // when a task ended
	took    float64       // sum of the times that tasks took, as far as known
	timed   float64       // tasks whose time is known
	running float64       // sum of how many ran when a task ended
	idle    float64       // tasks that ended while not all places were taken
	broken  bool          // some were free, and nobody waited
	past    float64       // how long a task took before this window
}

// open begins a new window at the end of a task, which is to be added.
func (w *window) open(now time.Duration) { *w = window{last: now, past: w.lasted()} }

// pause adds the time until now to w, and reports whether it may end here.
func (w *window) pause(now time.Duration) bool {
	gap := float64(now - w.last)
	w.last = now
	w.time += gap
	return w.time > 0 && w.tasks > 0 && 2*gap*w.tasks >= w.time-gap && w.time >= 0.5*w.mean()
}

// add counts n tasks, which took so long together; 0 if that is not known.
func (w *window) add(n, running int, took time.Duration, full bool) {
	w.tasks += float64(n)
	w.running += float64(n * running)
	if took > 0 {
		w.took += float64(took)
		w.timed += float64(n)
	}
	if !full {
		w.idle += float64(n)
	}
}

// mean is how long a task took.
func (w *window) mean() float64 {
	if w.timed == 0 {
		return 0
	}
	return w.took / w.timed
}

// lasted is how long a task took, in this window or the one before.
func (w *window) lasted() float64 {
	if w.timed == 0 {
		return w.past
	}
	return w.mean()
}

// valid reports whether nearly all the tasks ended while all places were taken:
// otherwise the window tells how many tasks there were to do, and nothing about the
// limit.
func (w *window) valid() bool { return !w.broken && w.idle <= 0.2*w.tasks }

func (w *window) reading() reading { return reading{w.tasks, w.time, w.running / w.tasks} }
