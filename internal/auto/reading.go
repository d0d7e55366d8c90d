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
	if o.latency > 0 {
		r.latency = o.latency
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
// limit. So a window is suspended meanwhile: it is cut where a task finished last while all
// permits were held, in the middle of other tasks. It goes on after that, such as after the pause
// between two calls. Its throughput is then, by Little's law, the number of tasks that ran, divided
// by the time that each took. It ends when no task runs, or when as many have finished as run.
type window struct {
	counts
	held    counts  // when a task finished last while all permits were held
	latency average // of the tasks that finish, known or assumed, also of those that were cut
	known   average // the same, known only
	cut     bool
	resumed float64 // tasks when it was resumed last
}

// counts are what a window counts.
type counts struct {
	tasks float64       // finished
	time  float64       // while all permits were held
	busy  float64       // the same, times the tasks that ran
	last  time.Duration // when a task finished last, or all permits were held again
}

// open opens a new window. A task finishes now, and is added next.
func (w *window) open(now time.Duration) {
	c := counts{last: now}
	*w = window{counts: c, held: c, latency: average{prior: w.latency.mean()}, known: average{prior: w.known.mean()}}
}

// pause adds the time until now to w, and reports whether w may end: a group has finished. The
// time before the first task is none of w.
func (w *window) pause(now time.Duration, running int) bool {
	gap, group := float64(now-w.last), w.time
	w.last = now
	if w.tasks == 0 && !w.cut {
		return false
	}
	w.time += gap
	w.busy += gap * float64(running)
	if w.cut && w.tasks-w.resumed < float64(running) {
		return false
	}
	return w.time > 0 && 2*gap*w.tasks >= group && w.lasts(0.5)
}

// lasts reports whether w is open for n times as long as a task takes.
func (w *window) lasts(n float64) bool { return w.time*w.latency.n >= n*w.latency.sum }

// add counts the tasks of b. held says that all permits were held.
func (w *window) add(b batch, held bool) {
	w.tasks += float64(b.n)
	w.took(b)
	if held {
		w.held = w.counts
	}
}

func (w *window) took(b batch) {
	w.latency.add(b)
	if !b.assumed {
		w.known.add(b)
	}
}

// suspend cuts w where a task finished last while all permits were held.
func (w *window) suspend() { w.counts, w.cut = w.held, true }

// addFree counts the tasks of b, which finish while w is suspended. It is of interest how long
// those took that w has cut.
func (w *window) addFree(b batch) {
	if b.now-b.took < w.last {
		w.took(b)
	}
}

// resume makes w go on, from the given time on.
func (w *window) resume(from time.Duration) {
	w.last = max(w.last, from)
	w.held, w.resumed = w.counts, w.tasks
}

// size returns the number of tasks that w shows.
func (w *window) size() float64 {
	switch {
	case !w.cut:
		return w.tasks
	case w.latency.n == 0:
		return 0
	}
	return w.busy / w.latency.mean()
}

func (w *window) reading() reading {
	return reading{w.size(), w.time, w.busy / w.time, w.known.mean()}
}

// An average is the mean latency of the tasks of a window.
type average struct {
	sum, n float64
	prior  float64 // the mean of the window before
}

// add counts the tasks of b, unless it is unknown how long they took.
func (a *average) add(b batch) {
	if b.took > 0 {
		a.sum += float64(b.took)
		a.n += float64(b.n)
	}
}

// mean returns the mean in nanoseconds, or the mean of the window before if a is empty.
func (a *average) mean() float64 {
	if a.n == 0 {
		return a.prior
	}
	return a.sum / a.n
}
