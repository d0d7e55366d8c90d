package auto

import (
	"math"
	"math/rand/v2"
)

// The simulator runs a plant, which is what tasks do, under a governor, which
// says how many may run, in virtual time. Its unit is the millisecond.
//
// A task computes, then waits, then is served; each part may be nothing. There is
// always one more task, or there are total. Workers behave as those of the library:
// one that ends a task goes on with the next, and a further one begins only when a
// processor is free for it.

// A plant is what tasks do, and what they do it with.
type plant struct {
	name  string
	procs int // processors
	total int // tasks; 0: without end
	until float64
	from  float64 // throughput is counted from here on
	best  float64 // throughput of the best limit, in tasks a millisecond
	quota float64 // share of the processors that it gets; 0: all of them

	next func(now float64, r *rand.Rand) (compute, wait, serve float64)

	slots  func(now float64) int // serves first come, first served, so many at once
	rate   func(n int) float64   // or all at once, each at this rate
	reject int                   // a task that finds so many in service fails after 1 ms
}

// A governor decides how many tasks may run.
type governor interface {
	limit() int
	// done tells that a task has ended, after latency, with running others and it at work.
	done(now, latency float64, running int, full, overloaded bool) (again float64)
	// tick is called at the time that done or tick have returned, if that is not 0.
	tick(now float64, running int, full bool) (again float64)
}

// A job is a task on its way.
type job struct {
	began                float64
	compute, wait, serve float64
	at                   float64 // when its part ends; in a station the work at which it does
	rejected             bool
}

// jobs is a heap by at: container/heap without its interface, to take less time.
type jobs []*job

func (h *jobs) push(x *job) {
	s := append(*h, x)
	*h = s
	for j := len(s) - 1; j > 0; {
		i := (j - 1) / 2
		if s[j].at >= s[i].at {
			return
		}
		s[i], s[j] = s[j], s[i]
		j = i
	}
}

func (h *jobs) pop() *job {
	s := *h
	n := len(s) - 1
	s[0], s[n] = s[n], s[0]
	for i := 0; ; {
		j := 2*i + 1
		if j >= n {
			break
		}
		if k := j + 1; k < n && s[k].at < s[j].at {
			j = k
		}
		if s[j].at >= s[i].at {
			break
		}
		s[i], s[j] = s[j], s[i]
		i = j
	}
	*h = s[:n]
	return s[n]
}

// next returns when the first ends.
func (h jobs) next() float64 {
	if len(h) == 0 {
		return math.Inf(1)
	}
	return h[0].at
}

// A station serves all its jobs at once, each at a rate that depends on how many
// there are. work is what a job that was there all the time would have got.
type station struct {
	rate func(n int) float64
	jobs jobs
	work float64
	last float64
}

func (s *station) advance(now float64) {
	if n := len(s.jobs); n > 0 {
		s.work += (now - s.last) * s.rate(n)
	}
	s.last = now
}

func (s *station) add(now, amount float64, j *job) {
	s.advance(now)
	j.at = s.work + amount
	s.jobs.push(j)
}

func (s *station) next() float64 {
	n := len(s.jobs)
	if n == 0 {
		return math.Inf(1)
	}
	return s.last + max(0, s.jobs[0].at-s.work)/s.rate(n)
}

func (s *station) pop(now float64) *job {
	s.advance(now)
	return s.jobs.pop()
}

// A desk serves as many jobs at once as it has slots, and lets the others wait.
type desk struct {
	slots func(now float64) int
	line  []*job
	busy  jobs
}

func (d *desk) serve(now float64) {
	for len(d.line) > 0 && len(d.busy) < d.slots(now) {
		j := d.line[0]
		d.line = d.line[1:]
		j.at = now + j.serve
		d.busy.push(j)
	}
}

// A run is a plant at work.
type run struct {
	*plant
	g   governor
	rng *rand.Rand
	now float64

	computing station
	waiting   jobs
	serving   station
	desk      desk

	running, started, ended, failed int
	counted                         int     // ended before from
	since                           float64 // the time of that
	peak                            int     // most that ran at once
	limits, busy                    float64 // integrals of the limit, and of how many ran
	crowded                         float64 // time with more than 60 running
	ends                            []int   // tasks that ended in each bin
	alarm                           float64
	spare                           []*job
}

// simulate runs p under g and returns what came out.
func simulate(p *plant, g governor, seed uint64) *run {
	r := &run{plant: p, g: g, rng: rand.New(rand.NewPCG(seed, 77)), alarm: 500, since: -1}
	procs := float64(p.procs)
	if p.quota > 0 {
		procs *= p.quota
	}
	if p.until > 0 {
		r.ends = make([]int, int(p.until/bin)+1)
	}
	r.computing.rate = func(n int) float64 { return min(1, procs/float64(n)) }
	r.serving.rate = p.rate
	r.desk.slots = p.slots
	for {
		r.fill()
		at := min(r.computing.next(), r.waiting.next(), r.serving.next(), r.desk.busy.next(), r.alarm)
		if p.until > 0 && at > p.until || math.IsInf(at, 1) {
			at = min(at, p.until)
		}
		if r.since < 0 && at >= p.from {
			r.since, r.counted = max(p.from, r.now), r.ended-r.failed
		}
		if p.until > 0 && at >= p.until {
			r.pass(p.until)
			return r
		}
		r.pass(at)
		switch at {
		case r.computing.next():
			r.computed(r.computing.pop(at))
		case r.waiting.next():
			r.waited(r.waiting.pop())
		case r.desk.busy.next():
			j := r.desk.busy.pop()
			r.desk.serve(at)
			r.end(j)
		case r.serving.next():
			r.end(r.serving.pop(at))
		default:
			r.alarmed(g.tick(at, r.running, r.backlog()))
		}
		if p.total > 0 && r.ended == p.total {
			return r
		}
	}
}

func (r *run) pass(at float64) {
	dt := at - r.now
	r.limits += float64(r.g.limit()) * dt
	r.busy += float64(r.running) * dt
	if r.running > 60 {
		r.crowded += dt
	}
	r.now = at
}

// backlog reports whether there is more to do.
func (r *run) backlog() bool { return r.total == 0 || r.started < r.total }

// fill lets further workers begin, each of which needs a free processor to do so.
func (r *run) fill() {
	for r.backlog() && r.running < r.g.limit() && (r.running < r.procs || len(r.computing.jobs) < r.procs) {
		r.running++
		r.peak = max(r.peak, r.running)
		r.begin()
	}
}

// job returns one that begins now.
func (r *run) job() *job {
	n := len(r.spare)
	if n == 0 {
		return &job{began: r.now}
	}
	j := r.spare[n-1]
	r.spare = r.spare[:n-1]
	*j = job{began: r.now}
	return j
}

func (r *run) begin() {
	r.started++
	j := r.job()
	j.compute, j.wait, j.serve = r.plant.next(r.now, r.rng)
	if j.compute > 0 {
		r.computing.add(r.now, j.compute, j)
		return
	}
	r.computed(j)
}

func (r *run) computed(j *job) {
	if j.wait > 0 {
		j.at = r.now + j.wait
		r.waiting.push(j)
		return
	}
	r.waited(j)
}

func (r *run) waited(j *job) {
	switch {
	case j.serve == 0:
		r.end(j)
	case r.reject > 0 && len(r.desk.busy) >= r.reject:
		j.rejected, j.serve, j.at = true, 0, r.now+1
		r.waiting.push(j)
	case r.slots != nil:
		r.desk.line = append(r.desk.line, j)
		r.desk.serve(r.now)
	default:
		r.serving.add(r.now, j.serve, j)
	}
}

// end ends a task, and its worker begins the next.
func (r *run) end(j *job) {
	r.ended++
	if j.rejected {
		r.failed++
	}
	if r.ends != nil {
		r.ends[int(r.now/bin)]++
	}
	r.alarmed(r.g.done(r.now, r.now-j.began, r.running, r.backlog(), j.rejected))
	r.spare = append(r.spare, j)
	if r.running > r.g.limit() || !r.backlog() {
		r.running--
		return
	}
	r.begin()
}

func (r *run) alarmed(again float64) {
	r.alarm = math.Inf(1)
	if again > 0 {
		r.alarm = again
	}
}

// throughput is what was done a millisecond, without what failed.
func (r *run) throughput() float64 {
	return float64(r.ended-r.failed-r.counted) / (r.now - r.since)
}

// bin is the width of those of ends.
const bin = 10
