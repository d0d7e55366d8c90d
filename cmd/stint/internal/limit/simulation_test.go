package limit

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/cmd/stint/internal/machine"
	"github.com/stint-go/stint/cmd/stint/internal/process"
)

const (
	tick          = time.Millisecond
	startsPerTick = 2 // the system starts processes one after the other
)

// A job of a simulation uses a CPU and waits for something else in turns, a CPU first, and grows.
type job struct {
	p         *process.Process
	start     time.Time
	phases    []time.Duration // what is left of them
	cpu, wait float64         // seconds so far, on a CPU and waiting for one
	told      float64         // of wait, what the kernel has told: it does so when the job gets a CPU
	grows     growth
}

// A growth says how a job grows: so many bytes a second, to the most.
type growth struct{ rate, most float64 }

func (g growth) after(t time.Duration) float64 { return min(g.rate*t.Seconds(), g.most) }

// A simulation is a machine with virtual time, whose CPUs are shared evenly by the processes
// that want one. There is always one more job to start. Which jobs are sampled is random: what a test
// wants has room for that.
type simulation struct {
	*Limit
	cpus  int
	quota float64 // CPUs that there are in each tenth of a second, from its start; 0: all
	total float64 // bytes of memory; 0: not known
	now   time.Time
	next  func() ([]time.Duration, growth) // the phases of a job
	jobs  []*job
	used  map[*process.Process]*job
	ended int
	most  int     // jobs that ran at once,
	bytes float64 // and bytes that they had
}

// newSimulation returns a simulation that runs the jobs of a mix on so many CPUs.
func newSimulation(cpus int, m mix) *simulation {
	rng := rand.New(rand.NewPCG(1, 2))
	l := &Limit{most: max(maxAdaptive, cpus), running: map[*process.Process]*sample{}, bound: cpus, limiter: stint.Auto(1, maxAdaptive)}
	s := &simulation{Limit: l, cpus: cpus, now: time.Unix(1e9, 0), used: map[*process.Process]*job{}, next: func() ([]time.Duration, growth) { return m.phases(rng), m.growth }}
	l.from = s.sensors()
	l.demand.cpus = l.from.cpus()
	return s
}

// sensors tell what the jobs have used.
func (s *simulation) sensors() sensors {
	from := nothing
	from.cpus = func() float64 { return min(float64(s.cpus), cmp.Or(s.quota, 1e9)) }
	from.usage = func(p *process.Process) (machine.Usage, bool) {
		j := s.used[p]
		return machine.Usage{CPU: seconds(j.cpu), Wait: seconds(j.told), Ready: len(j.phases)%2 == 1, RSS: int64(j.grows.after(s.now.Sub(j.start)))}, true
	}
	from.memory = func() (machine.Memory, bool) {
		return machine.Memory{Available: int64(max(0, s.total-s.size())), Total: int64(s.total)}, s.total > 0
	}
	return from
}

// size returns the bytes of all jobs.
func (s *simulation) size() (sum float64) {
	for _, j := range s.jobs {
		sum += j.grows.after(s.now.Sub(j.start))
	}
	return sum
}

func seconds(n float64) time.Duration { return time.Duration(n * float64(time.Second)) }

// tick starts jobs, and lets all run for a moment.
func (s *simulation) tick() {
	for n := 0; n < startsPerTick && len(s.jobs) < s.bound; n++ {
		j := &job{p: new(process.Process), start: s.now}
		j.phases, j.grows = s.next()
		s.jobs, s.used[j.p], s.running[j.p] = append(s.jobs, j), j, newSample(s.now)
	}
	want := 0
	for _, j := range s.jobs {
		want += len(j.phases) % 2
	}
	s.most, s.bytes = max(s.most, len(s.jobs)), max(s.bytes, s.size())
	share := min(1, float64(s.cpus)/float64(max(1, want)))
	if s.throttled() {
		share = 0
	}
	s.now = s.now.Add(tick)
	s.jobs = slices.DeleteFunc(s.jobs, func(j *job) bool {
		j.run(share)
		if len(j.phases) > 0 {
			return false
		}
		s.Finished(j.p, process.Result{Start: j.start, Elapsed: s.now.Sub(j.start), CPU: seconds(j.cpu)})
		delete(s.used, j.p)
		s.ended++
		return true
	})
}

// run runs a job for a tick, with a share of a CPU while it wants one. A phase of CPU time has
// an odd number of phases from there on.
func (j *job) run(share float64) {
	for left := tick; left > 0 && len(j.phases) > 0; {
		speed, onCPU := 1.0, len(j.phases)%2 == 1
		if onCPU {
			speed = share
		}
		step := left
		if speed > 0 {
			step = min(left, time.Duration(float64(j.phases[0])/speed)+1)
		}
		if onCPU {
			j.cpu += speed * step.Seconds()
			if j.wait += (1 - speed) * step.Seconds(); speed > 0 {
				j.told = j.wait
			}
		}
		left -= step
		if j.phases[0] -= time.Duration(speed*float64(step)) + 1; j.phases[0] <= 0 {
			j.phases = j.phases[1:]
		}
	}
}

// throttled reports whether the quota of the present tenth of a second is used up.
func (s *simulation) throttled() bool {
	in := s.now.Sub(s.now.Truncate(100 * ms)).Seconds()
	return s.quota > 0 && in >= s.quota/float64(s.cpus)/10
}

// found is what a simulation has shown from some time on.
type found struct {
	low, high, last, changes int // of the limit
	ended                    int // jobs
}

// run runs the simulation, with looks as watch has them, and returns what it shows after skip.
func (s *simulation) run(skip, whole time.Duration) (r found) {
	r.low = 1 << 30
	began, last := s.now, s.now
	next := began.Add(firstLook)
	skipped := 0
	for s.now.Sub(began) < whole {
		if s.tick(); s.now.Sub(began) <= skip {
			skipped = s.ended
		}
		if s.now.Before(next) || s.throttled() { // so is this process
			continue
		}
		before := s.bound
		s.look(s.now, s.now.Sub(last))
		last, next = s.now, s.now.Add(min(lastLook, max(firstLook, s.now.Sub(began)/10)))
		if s.now.Sub(began) < skip {
			continue
		}
		if r.last = s.bound; r.last != before {
			r.changes++
		}
		r.low, r.high = min(r.low, r.last), max(r.high, r.last)
	}
	r.ended = s.ended - skipped
	return r
}

// A mix says what jobs do: so many times some milliseconds on a CPU and some of waiting.
type mix struct {
	cpu, wait float64
	times     int
	spread    float64 // by which part times differ
	growth
}

func (m mix) phases(r *rand.Rand) (all []time.Duration) {
	length := func(ms float64) time.Duration { return seconds(ms / 1000 * (1 + m.spread*(2*r.Float64()-1))) }
	for range max(1, m.times) {
		all = append(all, length(m.cpu))
		if m.wait > 0 {
			all = append(all, length(m.wait))
		}
	}
	if m.wait > 0 {
		all = append(all, time.Millisecond/5) // on a CPU, to end
	}
	return all
}

var (
	compute      = mix{cpu: 50}
	computeShort = mix{cpu: 5, spread: 0.2}
	computeLong  = mix{cpu: 3000}
	sleep        = mix{cpu: 0.5, wait: 100}
	sleepLong    = mix{cpu: 1, wait: 1000}
	half         = mix{cpu: 50, wait: 50}
	halfLong     = mix{cpu: 50, wait: 50, times: 20}
	halfSlow     = mix{cpu: 500, wait: 500, spread: 0.2}
	quarter      = mix{cpu: 25, wait: 75, spread: 0.2}
	tenth        = mix{cpu: 5, wait: 45, times: 20, spread: 0.2}
)

// simulationCases say between which limits a mix settles.
var simulationCases = []struct {
	name      string
	mix       mix
	cpus      int
	low, high int
}{
	{"compute", compute, 2, 2, 2}, {"compute", compute, 64, 64, 64}, {"compute, long", computeLong, 8, 8, 8},
	{"compute, short", computeShort, 2, 2, 3}, {"compute, short", computeShort, 8, 8, 10}, // until the next tick starts a job, a tenth of the CPUs is idle
	{"sleep", sleep, 2, 256, 256}, {"sleep, long", sleepLong, 8, 256, 256},
	{"half", half, 1, 2, 4}, {"half", half, 2, 6, 8}, {"half", half, 8, 16, 24}, {"half", half, 64, 110, 160},
	{"half, long", halfLong, 64, 110, 160}, {"half, slow", halfSlow, 2, 4, 8}, {"half, slow", halfSlow, 8, 12, 24},
	{"quarter", quarter, 1, 5, 9}, {"quarter", quarter, 2, 9, 14}, {"quarter", quarter, 8, 28, 50}, {"quarter", quarter, 64, 256, 256},
	{"tenth", tenth, 2, 16, 40}, {"tenth", tenth, 8, 70, 140}, {"tenth", tenth, 64, 256, 256},
}

// TestSimulation also looks whether a limit that has settled stays.
func TestSimulation(t *testing.T) {
	for _, c := range simulationCases {
		s := newSimulation(c.cpus, c.mix)
		r := s.run(4*time.Second, 10*time.Second)
		if r.low < c.low || r.high > c.high {
			t.Errorf("%s on %d CPUs: limits %d to %d, want %d to %d", c.name, c.cpus, r.low, r.high, c.low, c.high)
		}
		if r.high >= 2*r.low || r.changes > 6 {
			t.Errorf("%s on %d CPUs: %d changes between %d and %d", c.name, c.cpus, r.changes, r.low, r.high)
		}
	}
}

// TestSimulationChanges has jobs that do something else after a while.
func TestSimulationChanges(t *testing.T) {
	for _, c := range []struct {
		name          string
		before, after mix
		cpus          int
		low, high     int
	}{
		{"sleep, then compute", sleepLong, compute, 2, 2, 3},
		{"sleep, then compute for long", sleepLong, computeLong, 2, 2, 3},
		{"compute, then sleep", compute, sleep, 2, 256, 256},
		{"half, then sleep", half, sleepLong, 2, 256, 256},
		{"sleep, then half", sleepLong, half, 2, 4, 8},
	} {
		s := newSimulation(c.cpus, c.before)
		s.run(5*time.Second, 5*time.Second)
		rng := rand.New(rand.NewPCG(3, 4))
		s.next = func() ([]time.Duration, growth) { return c.after.phases(rng), c.after.growth }
		if r := s.run(15*time.Second, 18*time.Second); r.low < c.low || r.high > c.high {
			t.Errorf("%s on %d CPUs: limits %d to %d, want %d to %d", c.name, c.cpus, r.low, r.high, c.low, c.high)
		}
	}
}

const gib = 1 << 30

// growthCases have jobs that need more memory than the machine has if all of them run.
var growthCases = []struct {
	name   string
	mix    mix
	others mix // every second job
	total  float64
	most   int // jobs at once, at least
}{
	{"slow growth of jobs that wait", mix{cpu: 1, wait: 100, times: 100, growth: growth{50 * mib, 500 * mib}}, mix{}, 2 * gib, 3},
	{"growth at once", mix{cpu: 1, wait: 1000, growth: growth{5 * gib, 300 * mib}}, mix{}, 2 * gib, 5},
	{"slow growth beside jobs that wait", mix{cpu: 1, wait: 100, times: 100, growth: growth{50 * mib, 500 * mib}}, mix{cpu: 1, wait: 3000, growth: growth{gib, mib}}, 2 * gib, 3},
	{"jobs with a part that all have", mix{cpu: 1, wait: 100, times: 100, growth: growth{20 * mib, 180 * mib}}, mix{}, 2 * gib, 9},
}

// TestSimulationGrowth wants that jobs never need more memory than there is, and that as many run as
// fit once it is known how much a job takes.
func TestSimulationGrowth(t *testing.T) {
	for _, c := range growthCases {
		for _, fixed := range []bool{false, true} {
			s := newSimulation(2, c.mix)
			if s.total = c.total; fixed { // -j 256 --memfree
				s.Limit.jobs, s.memory.spare = maxAdaptive, 100*mib
			}
			if first := s.next; c.others.cpu > 0 {
				n, rng := 0, rand.New(rand.NewPCG(5, 6))
				s.next = func() ([]time.Duration, growth) {
					if n++; n%2 == 0 {
						return c.others.phases(rng), c.others.growth
					}
					return first()
				}
			}
			s.run(0, 25*time.Second)
			if s.bytes > s.total || s.most < c.most {
				t.Errorf("%s, fixed %v: up to %.0f MiB of %.0f, %d jobs at once, want %d or more", c.name, fixed, s.bytes/mib, s.total/mib, s.most, c.most)
			}
		}
	}
}

// TestSimulationStart wants that the limit of small jobs which wait rises soon, after some looks that
// show that the jobs do not grow.
func TestSimulationStart(t *testing.T) {
	for _, m := range []mix{{cpu: 1, wait: 200}, {cpu: 1, wait: 1000}} {
		m.growth = growth{gib, 2 * mib}
		s := newSimulation(2, m)
		s.total = 2 * gib
		if r := s.run(180*ms, 200*ms); r.last < 3*maxAdaptive/4 {
			t.Errorf("%+v: limit %d after 0.2 s: %+v", m, r.last, s.history)
		}
	}
}

// TestSimulationRareGrowth has one job in a hundred that goes on growing, and room for it: it does not
// hold the others.
func TestSimulationRareGrowth(t *testing.T) {
	s := newSimulation(2, mix{cpu: 1, wait: 500, growth: growth{gib, 2 * mib}})
	s.total = 16 * gib
	n, next := 0, s.next
	s.next = func() ([]time.Duration, growth) {
		phases, grows := next()
		if n++; n%100 == 1 {
			phases, grows = []time.Duration{time.Minute, 1}, growth{64 * mib, gib}
		}
		return phases, grows
	}
	s.run(0, 5*time.Second)
	if s.most < maxAdaptive/2 || s.bytes > s.total {
		t.Errorf("%d jobs at once, want %d or more; up to %.0f MiB", s.most, maxAdaptive/2, s.bytes/mib)
	}
}

// TestSimulationQuota has cgroups with a part of the CPUs. A job that has not had one yet wants it.
func TestSimulationQuota(t *testing.T) {
	for _, m := range []mix{compute, computeLong, half} {
		for _, quota := range []float64{0.2, 0.5, 1, 1.5} {
			s := newSimulation(2, m)
			s.quota = quota
			s.run(0, 5*time.Second)
			if most := 2 + int(3*quota*(m.wait/m.cpu)); s.most > most {
				t.Errorf("%+v with a quota of %v CPUs: %d at once, want %d at most", m, quota, s.most, most)
			}
		}
	}
}
