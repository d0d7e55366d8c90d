package workload

import "math"

// A job is a task on its way.
type job struct {
	began                float64
	compute, wait, serve float64
	at                   float64 // when its part ends; in a station, the work at which it does
	rejected             bool
	left                 chan struct{} // closed at the end, if the task is live
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

// A station serves all its jobs at once, each at a rate that depends on how many there
// are. work is what a job that was there all the time would have got.
type station struct {
	rate  func(n int) float64
	rates []float64 // of n jobs at index n; 0: not asked for yet
	jobs  jobs
	work  float64
	last  float64
}

// share returns the rate of each of the n jobs that are there. It asks for it once: it takes
// longer than all else that the station does.
func (s *station) share(n int) float64 {
	if n >= len(s.rates) {
		s.rates = append(s.rates, make([]float64, n+1)...)
	}
	if s.rates[n] == 0 {
		s.rates[n] = s.rate(n)
	}
	return s.rates[n]
}

func (s *station) advance(now float64) {
	if n := len(s.jobs); n > 0 {
		s.work += (now - s.last) * s.share(n)
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
	return s.last + max(0, s.jobs[0].at-s.work)/s.share(n)
}

func (s *station) pop(now float64) *job {
	s.advance(now)
	return s.jobs.pop()
}

// A desk serves as many jobs at once as it has slots; the others wait.
type desk struct {
	slots func(now float64) int
	queue []*job
	busy  jobs
}

func (d *desk) serve(now float64) {
	for len(d.queue) > 0 && len(d.busy) < d.slots(now) {
		j := d.queue[0]
		d.queue = d.queue[1:]
		j.at = now + j.serve
		d.busy.push(j)
	}
}

// A service takes the jobs of a workload through their parts, and calls end for each that
// has ended.
type service struct {
	w   *Workload
	now float64
	end func(*job)

	computing station
	waiting   jobs
	serving   station
	desk      desk
}

func newService(w *Workload, end func(*job)) *service {
	procs := float64(w.Procs)
	if w.Quota > 0 {
		procs *= w.Quota
	}
	return &service{
		w: w, end: end, computing: station{rate: shared(procs)},
		serving: station{rate: w.Rate}, desk: desk{slots: w.Slots},
	}
}

func (s *service) begin(j *job) {
	if j.compute > 0 {
		s.computing.add(s.now, j.compute, j)
		return
	}
	s.computed(j)
}

func (s *service) computed(j *job) {
	if j.wait > 0 {
		j.at = s.now + j.wait
		s.waiting.push(j)
		return
	}
	s.waited(j)
}

func (s *service) waited(j *job) {
	switch {
	case j.serve == 0:
		s.end(j)
	case s.w.Reject > 0 && len(s.desk.busy) >= s.w.Reject:
		j.rejected, j.serve, j.at = true, 0, s.now+1
		s.waiting.push(j)
	case s.w.Slots != nil:
		s.desk.queue = append(s.desk.queue, j)
		s.desk.serve(s.now)
	default:
		s.serving.add(s.now, j.serve, j)
	}
}

// next returns when a part of some job ends.
func (s *service) next() float64 {
	return min(s.computing.next(), s.waiting.next(), s.serving.next(), s.desk.busy.next())
}

// step ends a part that ends at that time, and reports whether there is one.
func (s *service) step(at float64) bool {
	s.now = at
	switch at {
	case s.computing.next():
		s.computed(s.computing.pop(at))
	case s.waiting.next():
		s.waited(s.waiting.pop())
	case s.desk.busy.next():
		j := s.desk.busy.pop()
		s.desk.serve(at)
		s.end(j)
	case s.serving.next():
		s.end(s.serving.pop(at))
	default:
		return false
	}
	return true
}
