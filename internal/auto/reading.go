package auto

import (
	"math"
	"time"
)

// A reading is a throughput and the number of running tasks that gave it.
type reading struct {
	tasks   float64
	time    float64 // nanoseconds
	running float64 // on average
	latency float64 // of a task, nanoseconds, on average; 0: unknown
}

// rate returns the throughput in tasks a nanosecond.
func (r reading) rate() float64 { return r.tasks / r.time }

// feasible returns r with no higher throughput than Little's law allows. A window may show
// more, because its first tasks started before it.
func (r reading) feasible() reading {
	r.time = max(r.time, r.tasks*r.latency/max(1, r.running))
	return r
}

// reported returns the throughput for people, in tasks a second, 0 if the latency is
// unknown.
func (r reading) reported() float64 {
	if r.latency == 0 || r.time == 0 {
		return 0
	}
	return r.feasible().rate() * float64(time.Second)
}

// merge returns r followed by o.
func (r reading) merge(o reading) reading {
	switch {
	case r.latency == 0:
		r.latency = o.latency
	case o.latency > 0:
		r.latency += (o.latency - r.latency) * o.tasks / (r.tasks + o.tasks)
	}
	r.tasks += o.tasks
	r.time += o.time
	r.running = o.running
	return r
}

// elasticity returns how throughput followed the number of running tasks from a to b: 1
// if it rose as much, 0 if it stayed, less if it fell. se is the standard error for
// tasks that finish independently.
func elasticity(a, b reading) (e, se float64) {
	span := math.Log(b.running / a.running)
	return math.Log(b.rate()/a.rate()) / span, math.Sqrt(1/a.tasks+1/b.tasks) / math.Abs(span)
}

// A window is a reading in the making. It counts while all permits are held: otherwise the
// number of finished tasks depends on the demand, and not on the limit. It survives pauses in
// the demand, such as the end of a call.
//
// Tasks that start together finish together: a group. So a window opens and ends in a pause
// between finished tasks, and lasts at least half as long as its tasks took.
type window struct {
	counts
	group counts        // before the last pause: the groups that have finished, and the time between them
	last  time.Duration // when a task finished last, or began to wait after permits were free
}

// counts are what a window counts.
type counts struct {
	tasks   float64
	time    float64
	longest float64 // time between two tasks
	running float64 // sum, over tasks, of the number running when the task finished
	known   average // latency
	assumed average // latency, known or assumed
}

// open opens a new window. A task finishes now, and is added next.
func (w *window) open(now time.Duration) {
	c := counts{known: average{prior: w.known.mean()}, assumed: average{prior: w.assumed.mean()}}
	*w = window{counts: c, group: c, last: now}
}

// pause adds the time until now to w, and reports whether w may end: a group has finished. The
// time before the first task is none of w.
func (w *window) pause(now time.Duration) bool {
	gap := float64(now - w.last)
	w.last = now
	if w.tasks == 0 {
		return false
	}
	group := w.counts
	w.time += gap
	w.longest = max(w.longest, gap)
	if w.time == 0 || 2*gap*w.tasks < group.time || 2*w.time*w.assumed.n < w.assumed.sum {
		return false
	}
	w.group = group
	return true
}

// suspend discards what has finished since the last pause, and that pause. The time until the next
// group counts from now on.
func (w *window) suspend(now time.Duration) { w.counts, w.last = w.group, now }

// add counts n tasks. took is their total duration, 0 if unknown.
func (w *window) add(n, running int, took time.Duration) {
	w.tasks += float64(n)
	w.running += float64(n) * float64(running)
	if took > 0 {
		w.known.add(n, took)
		w.assumed.add(n, took)
	}
}

// share returns how many of n consecutive tasks of a worker, with the total duration took,
// finished in w, and the duration of those tasks.
func (w *window) share(n int, took time.Duration) (int, time.Duration) {
	if n == 1 || float64(took) <= w.time {
		return n, took
	}
	m := max(1, math.Ceil(float64(n)*w.time/float64(took)))
	return int(m), time.Duration(float64(took) / float64(n) * m)
}

// lasts reports whether w is open for n times as long as a task takes.
func (w *window) lasts(n float64) bool { return w.time*w.assumed.n >= n*w.assumed.sum }

func (w *window) reading() reading {
	return reading{w.tasks, w.time, w.running / w.tasks, w.known.mean()}
}

// An average is the mean latency of the tasks of a window.
type average struct {
	sum, n float64
	prior  float64 // the mean of the window before
}

func (a *average) add(n int, took time.Duration) {
	a.sum += float64(took)
	a.n += float64(n)
}

// mean returns the mean in nanoseconds, or the mean of the window before if a is empty.
func (a *average) mean() float64 {
	if a.n == 0 {
		return a.prior
	}
	return a.sum / a.n
}
