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

// A window is a reading in the making. Tasks that start together finish together: a group. So
// a window opens and ends in a pause between finished tasks, and lasts at least half as long as
// its tasks took. It counts tasks that finish: as many were at work when it opened as when it ends.
//
// While permits are free, the number of finished tasks depends on the demand, and not on the
// limit. So a window is suspended meanwhile: it is cut, in the middle of tasks. It survives that,
// such as the pauses between calls, and ends when the tasks that were cut have finished. Its
// throughput is then the number of tasks that ran, divided by the time that each takes.
type window struct {
	counts
	last    time.Duration // when a task finished last, or all permits were held again
	isCut   bool
	wasCut  bool          // before it was cut last
	lost    float64       // tasks that have finished since it was cut
	opened  time.Duration // when it was opened, or resumed
	cut     time.Duration // when it was cut last
	resumed float64       // tasks when it was resumed
	settled counts        // when as many tasks had finished after that as ran
	held    counts        // when a task finished last while all permits were held
	heldAt  time.Duration // when that was
	tail    counts        // of the tasks that have finished since
}

// counts are what a window counts.
type counts struct {
	tasks   float64 // finished
	time    float64
	longest float64 // time between two tasks
	running float64 // sum, over tasks, of the number running when the task finished
	known   average // latency
	assumed average // latency, known or assumed
	busy    float64 // sum, over tasks, of the time that they ran within the window
	began   average // latency, known or assumed, of those that started within the window
}

// open opens a new window. A task finishes now, and is added next.
func (w *window) open(now time.Duration) {
	c := counts{known: average{prior: w.known.mean()}, assumed: average{prior: w.assumed.mean()}}
	*w = window{counts: c, held: c, last: now, opened: now, heldAt: now}
}

// pause adds the time until now to w, and reports whether w may end: a group has finished. The
// time before the first task is none of w.
func (w *window) pause(now time.Duration, running int) bool {
	gap := float64(now - w.last)
	w.last = now
	if w.tasks == 0 && !w.isCut {
		return false
	}
	group := w.time
	w.time += gap
	w.longest = max(w.longest, gap)
	if w.time == 0 || w.isCut && !w.outgrown(running) {
		return false
	}
	return 2*gap*w.tasks >= group && 2*w.time*w.assumed.n >= w.assumed.sum
}

// outgrown reports whether w has counted more since it was resumed, and as many tasks had finished
// as run, than until then. From now on it counts these tasks only: a call is long.
func (w *window) outgrown(running int) bool {
	o := &w.settled
	switch {
	case w.tasks-w.resumed < float64(running):
		return false
	case o.tasks == 0:
		*o = w.counts
		return false
	case w.tasks < 2*o.tasks || w.began.n == 0:
		return false
	}
	w.tasks -= o.tasks
	w.time -= o.time
	w.running -= o.running
	w.busy = w.tasks * w.began.mean()
	w.opened, w.resumed, w.settled = w.last, 0, counts{}
	return true
}

// suspend cuts w where a task finished last while all permits were held, as permits are free.
func (w *window) suspend() {
	w.counts = w.held
	w.busy += w.tail.busy
	w.began.sum += w.tail.began.sum
	w.began.n += w.tail.began.n
	w.cut, w.wasCut, w.isCut, w.tail, w.lost = w.heldAt, w.isCut, true, counts{}, 0
}

// resume makes w count from the time on at which all permits were held again, by so many running
// tasks. If most of them ran when w was cut, it is as if it had not been.
func (w *window) resume(at time.Duration, running int) {
	at = max(at, w.cut)
	w.last, w.opened, w.heldAt, w.isCut = at, at, at, w.wasCut || 2*w.lost > float64(running)
	w.held, w.resumed, w.settled = w.counts, w.tasks, counts{}
}

// add counts n tasks. took is their total duration, 0 if unknown; then it is assumed. held says
// that all permits were held.
func (w *window) add(now time.Duration, n, running int, took, assumed time.Duration, held bool) {
	m, within := w.share(n, took)
	w.tasks += float64(m)
	w.running += float64(m) * float64(running)
	if took > 0 {
		w.known.add(m, within)
		w.assumed.add(m, within)
	}
	w.ran(&w.counts, n, assumed, now, now)
	if w.resumed > 0 { // they may have started before w was cut
		w.busy += float64(max(0, w.cut-(now-assumed)))
	}
	if held {
		w.held, w.heldAt, w.tail = w.counts, now, counts{}
	} else {
		w.ran(&w.tail, n, assumed, now, w.heldAt)
	}
}

// addCut counts n tasks that finish while w is suspended.
func (w *window) addCut(now time.Duration, n int, took time.Duration) {
	w.lost += float64(n)
	w.ran(&w.counts, n, took, now, w.cut)
}

// ran adds the time of n tasks to c: what was within w until its end, and all if they started in it.
func (w *window) ran(c *counts, n int, took, now, end time.Duration) {
	start := now - took
	c.busy += float64(max(0, end-max(w.opened, start)))
	if start < end && start >= w.opened-took/4 { // all permits are held only when some have started
		c.began.add(n, took)
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

// size returns the number of tasks that w shows.
func (w *window) size() float64 {
	switch {
	case !w.isCut:
		return w.tasks
	case w.began.n == 0:
		return 0
	}
	return w.busy / w.began.mean()
}

func (w *window) reading() reading {
	switch {
	case !w.isCut:
		return reading{w.tasks, w.time, w.running / w.tasks, w.known.mean()}
	case w.known.mean() == 0: // assumed
		return reading{w.size(), w.time, w.busy / w.time, 0}
	}
	return reading{w.size(), w.time, w.busy / w.time, w.began.mean()}
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
