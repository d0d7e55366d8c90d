package workload

import (
	"math"
	"math/rand/v2"
)

// A Governor decides how many tasks may run.
type Governor interface {
	Limit() int
	// Done is called when a task has ended, after latency, with running others and it at
	// work. It returns when to call Tick; 0: never.
	Done(now, latency float64, running int, full, overloaded bool) (again float64)
	// Tick is called when Done or Tick have asked for it.
	Tick(now float64, running int, full bool) (again float64)
}

// Fixed is a Governor with one limit.
type Fixed int

// Limit returns f.
func (f Fixed) Limit() int { return int(f) }

// Done does nothing.
func (f Fixed) Done(_, _ float64, _ int, _, _ bool) float64 { return 0 }

// Tick does nothing.
func (f Fixed) Tick(float64, int, bool) float64 { return 0 }

// A run is a workload under a governor. Workers behave as those of the library: one that
// ends a task continues with the next, and another starts only when a CPU is free.
type run struct {
	Meter
	*service
	g       Governor
	rng     *rand.Rand
	started int
	tick    float64 // when Tick is called next
	spare   []*job
}

// Simulate runs w under g.
func Simulate(w *Workload, g Governor, seed uint64) *Meter {
	r := &run{Meter: newMeter(w), g: g, rng: newRand(seed), tick: 500}
	r.service = newService(w, r.ended)
	for {
		r.fill()
		at := min(r.next(), r.tick)
		if w.Until > 0 && at >= w.Until || math.IsInf(at, 1) {
			r.pass(w.Until)
			return &r.Meter
		}
		r.pass(at)
		if !r.step(at) {
			r.again(g.Tick(at, r.Running, r.backlog()))
		}
		if w.Total > 0 && r.Ended == w.Total {
			return &r.Meter
		}
	}
}

func newRand(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 77)) }

// backlog reports whether there are more tasks.
func (r *run) backlog() bool { return r.Meter.w.Total == 0 || r.started < r.Meter.w.Total }

// fill starts workers, each of which needs a free CPU to start.
func (r *run) fill() {
	procs := r.Meter.w.Procs
	for r.backlog() && r.Running < r.g.Limit() && (r.Running < procs || len(r.computing.jobs) < procs) {
		r.enter()
		r.start()
	}
}

// start starts a task.
func (r *run) start() {
	r.started++
	if len(r.spare) == 0 {
		r.spare = append(r.spare, new(job))
	}
	n := len(r.spare) - 1
	j := r.spare[n]
	r.spare = r.spare[:n]
	*j = job{began: r.Now}
	j.compute, j.wait, j.serve = r.Meter.w.Next(r.Now, r.rng)
	r.begin(j)
}

// ended ends a task, and its worker starts the next.
func (r *run) ended(j *job) {
	r.Meter.ended(j.rejected)
	r.again(r.g.Done(r.Now, r.Now-j.began, r.Running, r.backlog(), j.rejected))
	r.spare = append(r.spare, j)
	if r.Running > r.g.Limit() || !r.backlog() {
		r.Running--
		return
	}
	r.start()
}

func (r *run) again(at float64) {
	r.tick = math.Inf(1)
	if at > 0 {
		r.tick = at
	}
}

// sweep are the limits of which the best is what others are compared to.
var sweep = []int{1, 2, 4, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256}

// BestThroughput returns the throughput of the best fixed limit, and the limit.
func BestThroughput(w *Workload, seed uint64) (throughput float64, limit int) {
	for _, n := range sweep {
		if x := Simulate(w, Fixed(n), seed).Throughput(); x > throughput {
			throughput, limit = x, n
		}
	}
	return throughput, limit
}

// Fastest returns how long the total of tasks takes at the best fixed limit.
func Fastest(w *Workload, seed uint64) float64 {
	fastest := math.Inf(1)
	for _, n := range sweep {
		fastest = min(fastest, Simulate(w, Fixed(n), seed).Now)
	}
	return fastest
}
