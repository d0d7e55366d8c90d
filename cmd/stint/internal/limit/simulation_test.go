package limit

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/cmd/stint/internal/machine"
	"github.com/stint-go/stint/cmd/stint/internal/process"
)

type simJob struct {
	p          *process.Process
	start, end time.Time
	phases     []time.Duration // left, of CPU time and of waiting in turns, CPU first
	cpu, wait  float64         // seconds
	gap        int
	done       bool
}

type sim struct {
	*Limit
	cpus int
	now  time.Time
	jobs []*simJob
	byP  map[*process.Process]*simJob
	rng  *rand.Rand
	mk   func(r *rand.Rand) []time.Duration
	fin  int
}

const dt = time.Millisecond

func (m *sim) tick() {
	for len(m.jobs) < m.gate.Current() {
		m.jobs = append(m.jobs, &simJob{p: new(process.Process), start: m.now, phases: m.mk(m.rng), gap: 1})
	}
	k := 0
	for _, j := range m.jobs {
		if len(j.phases)%2 == 1 && !j.done {
			k++
		}
	}
	share := min(1, float64(m.cpus)/float64(max(k, 1)))
	keep := m.jobs[:0]
	m.now = m.now.Add(dt)
	for _, j := range m.jobs {
		if j.gap > 0 {
			if j.gap--; j.gap == 0 && !j.done {
				m.mu.Lock()
				m.running[j.p] = &sample{at: j.start}
				m.byP[j.p] = j
				m.mu.Unlock()
			}
		}
		if j.done {
			if j.gap == 0 {
				m.Finished(j.p, process.Result{Start: j.start, Elapsed: j.end.Sub(j.start), CPU: time.Duration(j.cpu * 1e9)})
				delete(m.byP, j.p)
				m.fin++
				continue
			}
			keep = append(keep, j)
			continue
		}
		step := dt
		if len(j.phases)%2 == 1 {
			step = time.Duration(share * float64(dt))
			j.cpu += step.Seconds()
			j.wait += (dt - step).Seconds()
		}
		if j.phases[0] -= step; j.phases[0] <= 0 {
			j.phases = j.phases[1:]
		}
		if len(j.phases) == 0 {
			j.done, j.end, j.gap = true, m.now, 1
		}
		keep = append(keep, j)
	}
	m.jobs = keep
}

func TestSim(t *testing.T) {
	ms := func(f float64) time.Duration { return time.Duration(f * 1e6) }
	jit := func(r *rand.Rand, d time.Duration) time.Duration { return time.Duration(float64(d) * (0.8 + 0.4*r.Float64())) }
	rep := func(cpu, wait float64, times int, j bool) func(r *rand.Rand) []time.Duration {
		return func(r *rand.Rand) []time.Duration {
			var p []time.Duration
			for range times {
				c, w := ms(cpu), ms(wait)
				if j {
					c, w = jit(r, c), jit(r, w)
				}
				p = append(p, c, w)
			}
			if wait == 0 {
				return p[:1]
			}
			return append(p, ms(0.5))
		}
	}
	for _, mix := range []struct {
		name string
		mk   func(r *rand.Rand) []time.Duration
	}{
		{"cpu5", rep(5, 0, 1, true)}, {"cpu50", rep(50, 0, 1, true)}, {"cpu2000", rep(2000, 0, 1, false)}, {"cpu20000", rep(20000, 0, 1, false)},
		{"sleep100", rep(1, 100, 1, false)}, {"sleep1000", rep(1, 1000, 1, false)}, {"sleep10s", rep(1, 10000, 1, false)}, {"sleep20", rep(1, 20, 1, false)},
		{"half50", rep(50, 50, 1, false)}, {"half50j", rep(50, 50, 1, true)}, {"half50x100", rep(50, 50, 100, false)}, {"half5x100j", rep(5, 5, 100, true)}, {"half500j", rep(500, 500, 1, true)}, {"half2s", rep(2000, 2000, 1, false)},
		{"tenth", rep(5, 45, 20, true)}, {"90", rep(45, 5, 20, true)}, {"3/4", rep(75, 25, 1, false)}, {"quarter", rep(25, 75, 1, false)},
	} {
		for _, cpus := range []int{1, 2, 8, 64} {
			most := 256
			m := &sim{cpus: cpus, rng: rand.New(rand.NewPCG(1, 2)), mk: mix.mk, now: time.Unix(1e9, 0), byP: map[*process.Process]*simJob{},
				Limit: &Limit{most: most, running: map[*process.Process]*sample{}, gate: stint.Limit(cpus), search: stint.Auto(1, most)}}
			from := sensors{func() int { return cpus }, func() (machine.Memory, bool) { return machine.Memory{}, false }, func(p *process.Process) (machine.Usage, bool) {
				j := m.byP[p]
				return machine.Usage{CPU: time.Duration(j.cpu * 1e9), Wait: time.Duration(j.wait * 1e9)}, !j.done
			}}
			began, last := m.now, m.now
			next := m.now.Add(firstLook)
			lo, hi, first, sum, n, changes := 1<<30, 0, 0, 0, 0, 0
			f0 := 0
			for m.now.Sub(began) < 12*time.Second {
				m.tick()
				if !m.now.Before(next) {
					before := m.gate.Current()
					m.look(from, m.now, m.now.Sub(last))
					last = m.now
					next = m.now.Add(min(lastLook, max(firstLook, m.now.Sub(began)/10)))
					c := m.gate.Current()
					if m.now.Sub(began) < 2*time.Second {
						first = max(first, c)
						f0 = m.fin
					} else {
						if c != before {
							changes++
						}
						lo, hi, sum, n = min(lo, c), max(hi, c), sum+c, n+1
					}
				}
			}
			fmt.Printf("%-12s cpus %2d: early max %3d, settled %3d..%3d mean %.1f changes %d  done %d/s  %s\n", mix.name, cpus, first, lo, hi, float64(sum)/float64(n), changes, (m.fin-f0)/10, m.reason)
		}
	}
}
