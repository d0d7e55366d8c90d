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
	took    float64 // nanoseconds, each of them, on average; 0: not known
}

// rate is the throughput, in tasks a nanosecond.
func (r reading) rate() float64 { return r.tasks / r.time }

// borne returns r with as much time as so many workers need for so many tasks, each of
// which took so long: by J. D. C. Little no more end. They may have ended in less, since
// those that ended first had been at work before r began: that is no throughput.
func (r reading) borne() reading {
	r.time = max(r.time, r.tasks*r.took/max(1, r.running))
	return r
}

// told is the throughput that people are told, in tasks a second; 0 if it is not known
// what may have ended.
func (r reading) told() float64 {
	if r.took == 0 || r.time == 0 {
		return 0
	}
	return r.borne().rate() * float64(time.Second)
}

// and returns what was read in r and after it in o, while as many ran as in o.
func (r reading) and(o reading) reading {
	switch {
	case r.took == 0:
		r.took = o.took
	case o.took > 0:
		r.took += (o.took - r.took) * o.tasks / (r.tasks + o.tasks)
	}
	r.tasks += o.tasks
	r.time += o.time
	r.running = o.running
	return r
}

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
	took    float64       // sum of the times that tasks took, as far as known or supposed
	timed   float64       // tasks in it
	known   float64       // what is known of took
	seen    float64       // tasks in that
	running float64       // sum of how many ran when a task ended
	idle    float64       // tasks that ended while not all places were taken
	broken  bool          // some were free, and nobody waited
	past    float64       // how long a task took before this window
	sure    float64       // the same, as far as known
}

// open begins a new window at the end of a task, which is to be added.
func (w *window) open(now time.Duration) { *w = window{last: now, past: w.lasted(), sure: w.surely()} }

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
	w.running += float64(n) * float64(running)
	if took > 0 {
		w.known += float64(took)
		w.seen += float64(n)
		w.suppose(n, took)
	}
	if !full {
		w.idle += float64(n)
	}
}

// suppose says how long n tasks took, of which that is not known.
func (w *window) suppose(n int, took time.Duration) {
	w.took += float64(took)
	w.timed += float64(n)
}

// share returns how many of n tasks have ended since w began, and how long these took,
// when one after the other they took so long until now.
func (w *window) share(n int, took time.Duration) (int, time.Duration) {
	if n == 1 || float64(took) <= w.time {
		return n, took
	}
	m := max(1, math.Ceil(float64(n)*w.time/float64(took)))
	return int(m), time.Duration(float64(took) / float64(n) * m)
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

// surely is lasted as far as known; 0: not at all.
func (w *window) surely() float64 {
	if w.seen == 0 {
		return w.sure
	}
	return w.known / w.seen
}

// valid reports whether nearly all the tasks ended while all places were taken:
// otherwise the window tells how many tasks there were to do, and nothing about the
// limit.
func (w *window) valid() bool { return !w.broken && w.idle <= 0.2*w.tasks }

func (w *window) reading() reading { return reading{w.tasks, w.time, w.running / w.tasks, w.surely()} }
