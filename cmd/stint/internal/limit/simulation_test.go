package limit

import (
	"math/rand/v2"
	"slices"
	"strings"
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

// A job of a simulation uses a CPU and waits for something else in turns, a CPU first.
type job struct {
	p         *process.Process
	start     time.Time
	phases    []time.Duration // what is left of them
	cpu, wait float64         // seconds so far, on a CPU and waiting for one
}

// A simulation is a machine with virtual time, whose CPUs are shared evenly by the processes
// that want one. There is always one more job to start.
type simulation struct {
	*Limit
	cpus  int
	now   time.Time
	next  func() []time.Duration // the phases of a job
	jobs  []*job
	used  map[*process.Process]*job
	ended int
}

// newSimulation returns a simulation that runs the jobs of a mix on so many CPUs.
func newSimulation(cpus int, m mix) *simulation {
	rng := rand.New(rand.NewPCG(1, 2))
	l := &Limit{most: max(maxAdaptive, cpus), running: map[*process.Process]*sample{}, gate: stint.Limit(cpus), search: stint.Auto(1, maxAdaptive)}
	return &simulation{Limit: l, cpus: cpus, now: time.Unix(1e9, 0), used: map[*process.Process]*job{}, next: func() []time.Duration { return m.phases(rng) }}
}

// sensors tell what the jobs have used. Nothing is known of memory.
func (s *simulation) sensors() sensors {
	usage := func(p *process.Process) (machine.Usage, bool) {
		j := s.used[p]
		return machine.Usage{CPU: seconds(j.cpu), Wait: seconds(j.wait)}, true
	}
	return sensors{func() int { return s.cpus }, func() (machine.Memory, bool) { return machine.Memory{}, false }, usage}
}

func seconds(n float64) time.Duration { return time.Duration(n * float64(time.Second)) }

// tick starts jobs, and lets all run for a moment.
func (s *simulation) tick() {
	for n := 0; n < startsPerTick && len(s.jobs) < s.gate.Current(); n++ {
		j := &job{p: new(process.Process), start: s.now, phases: s.next()}
		s.jobs, s.used[j.p], s.running[j.p] = append(s.jobs, j), j, &sample{at: s.now}
	}
	want := 0
	for _, j := range s.jobs {
		want += len(j.phases) % 2
	}
	share := min(1, float64(s.cpus)/float64(max(1, want)))
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
		step := min(left, time.Duration(float64(j.phases[0])/speed)+1)
		if onCPU {
			j.cpu += speed * step.Seconds()
			j.wait += (1 - speed) * step.Seconds()
		}
		left -= step
		if j.phases[0] -= time.Duration(speed*float64(step)) + 1; j.phases[0] <= 0 {
			j.phases = j.phases[1:]
		}
	}
}

// settled is what a simulation has shown from some time on.
type settled struct {
	low, high, last, changes int // of the limit
	ended                    int // jobs
}

// run runs the simulation, with looks as watch has them, and returns what it shows after skip.
func (s *simulation) run(skip, whole time.Duration) (r settled) {
	r.low = 1 << 30
	began, last, from := s.now, s.now, s.sensors()
	next := began.Add(firstLook)
	skipped := 0
	for s.now.Sub(began) < whole {
		if s.tick(); s.now.Sub(began) <= skip {
			skipped = s.ended
		}
		if s.now.Before(next) {
			continue
		}
		before := s.gate.Current()
		s.look(from, s.now, s.now.Sub(last))
		last, next = s.now, s.now.Add(min(lastLook, max(firstLook, s.now.Sub(began)/10)))
		if s.now.Sub(began) < skip {
			continue
		}
		if r.last = s.gate.Current(); r.last != before {
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
	halfSpread   = mix{cpu: 50, wait: 50, spread: 0.3}
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
	{"compute", compute, 1, 1, 1}, {"compute", compute, 2, 2, 2}, {"compute", compute, 8, 8, 8}, {"compute", compute, 64, 64, 64},
	{"compute, short", computeShort, 1, 1, 1}, {"compute, short", computeShort, 2, 2, 3}, {"compute, short", computeShort, 8, 8, 10}, // until the next tick starts a job, a tenth of the CPUs is idle
	{"compute, long", computeLong, 1, 1, 1}, {"compute, long", computeLong, 8, 8, 8}, {"compute, long", computeLong, 64, 64, 64},
	{"sleep", sleep, 2, 256, 256}, {"sleep", sleep, 8, 256, 256}, {"sleep", sleep, 64, 256, 256},
	{"sleep, long", sleepLong, 1, 256, 256}, {"sleep, long", sleepLong, 8, 256, 256},
	{"half", half, 1, 2, 3}, {"half", half, 2, 4, 8}, {"half", half, 8, 16, 24}, {"half", half, 64, 110, 160},
	{"half, spread", halfSpread, 2, 4, 8}, {"half, spread", halfSpread, 8, 15, 24},
	{"half, long", halfLong, 2, 4, 8}, {"half, long", halfLong, 64, 110, 160},
	{"half, slow", halfSlow, 2, 4, 8}, {"half, slow", halfSlow, 8, 12, 24},
	{"quarter", quarter, 1, 4, 7}, {"quarter", quarter, 2, 7, 13}, {"quarter", quarter, 8, 28, 45}, {"quarter", quarter, 64, 256, 256},
	{"tenth", tenth, 2, 16, 40}, {"tenth", tenth, 8, 80, 140}, {"tenth", tenth, 64, 256, 256},
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
		for _, h := range s.State().History {
			if strings.Contains(h.Reason, "e+") {
				t.Errorf("%s on %d CPUs: %q", c.name, c.cpus, h.Reason)
			}
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
		{"sleep, then compute", sleepLong, compute, 8, 8, 10},
		{"sleep, then compute for long", sleepLong, computeLong, 2, 2, 3},
		{"compute, then sleep", compute, sleep, 2, 256, 256},
		{"compute for long, then sleep", computeLong, sleepLong, 2, 256, 256},
		{"half, then sleep", half, sleepLong, 2, 256, 256},
		{"sleep, then half", sleepLong, half, 2, 4, 8},
	} {
		s := newSimulation(c.cpus, c.before)
		s.run(5*time.Second, 5*time.Second)
		rng := rand.New(rand.NewPCG(3, 4))
		s.next = func() []time.Duration { return c.after.phases(rng) }
		if r := s.run(15*time.Second, 18*time.Second); r.low < c.low || r.high > c.high {
			t.Errorf("%s on %d CPUs: limits %d to %d, want %d to %d", c.name, c.cpus, r.low, r.high, c.low, c.high)
		}
	}
}
