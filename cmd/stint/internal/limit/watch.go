package limit

import (
	"math"
	"time"

	"github.com/stint-go/stint/cmd/stint/internal/machine"
	"github.com/stint-go/stint/cmd/stint/internal/process"
)

const (
	firstLook  = 10 * time.Millisecond  // between two looks, at first
	lastLook   = 100 * time.Millisecond // the same, later
	maxElapsed = time.Second            // between two looks, unless this process was stopped
	maxSampled = 32                     // jobs at each look
)

// sensors tell what there is and what jobs use.
type sensors struct {
	cpus   func() float64
	memory func() (machine.Memory, bool)
	kills  func() int64                                 // processes that the kernel has killed for want of memory
	lives  func(pid int) bool                           // whether a process has not ended
	usage  func(*process.Process) (machine.Usage, bool) // not ok: the process has ended, or nothing tells
}

func newSensors(meter *machine.Meter) sensors {
	usage := func(p *process.Process) (machine.Usage, bool) {
		u, ok := machine.Sample(p.Pid())
		return u, ok && !p.Reaped() // otherwise the number may be that of another process
	}
	return sensors{meter.CPUs, meter.Memory, meter.Kills, machine.Lives, usage}
}

// watch adapts the limit until it is closed. It looks often at first, so that no job has
// to end before others start.
func (l *Limit) watch() {
	began, last := time.Now(), time.Now()
	timer := time.NewTimer(firstLook)
	defer timer.Stop()
	for {
		select {
		case <-l.stop:
			return
		case n := <-l.steps:
			l.step(n)
			continue
		case <-timer.C:
		}
		now := time.Now()
		l.readFile(now)
		l.stopped(max(0, now.Sub(last)-maxElapsed))
		l.look(now, min(now.Sub(last), maxElapsed))
		last = now
		timer.Reset(min(lastLook, max(firstLook, now.Sub(began)/10)))
	}
}

// stopped tells that all jobs were stopped for so long, with this process, and continue.
func (l *Limit) stopped(d time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, s := range l.running {
		for _, t := range []*time.Time{&s.at, &s.began, &s.size.born, &s.size.grown, &s.size.still} {
			*t = t.Add(d)
		}
	}
}

// look samples running jobs and sets the bound.
func (l *Limit) look(now time.Time, elapsed time.Duration) {
	l.sample(now)
	l.mu.Lock()
	defer l.mu.Unlock()
	current, running := l.bound, l.uses()
	l.demand.width = float64(running) / float64(max(1, len(l.running)))
	cpus := l.from.cpus()
	n, reason := l.demand.limit(current, cpus, elapsed)
	if n > current && float64(running) < sameShare*float64(current) {
		n, reason = current, "" // the limit is not what keeps jobs back
	}
	if most := l.system.limit(now); most < n {
		n, reason = most, l.system.reason
	}
	n = min(n, l.mostAdaptive())
	if l.jobs != adaptive {
		if n, reason = min(l.jobs, l.most), l.by; l.jobs == paused || l.memory.spare == 0 {
			return
		}
	}
	if m, ok := l.from.memory(); ok {
		wide := max(1, l.demand.width)
		most, why := l.memory.limit(int(math.Ceil(float64(current)/wide)), machine.Whole(cpus), l.memory.sizes(l.running), m)
		if wide*float64(most) < float64(n) {
			n, reason = int(wide*float64(most)), why
		}
	}
	if n != current || reason != "" {
		l.setBound(n, reason)
	}
	l.note() // what the search has found
}

// sample samples some of the running jobs.
func (l *Limit) sample(now time.Time) {
	some := l.some()
	found := make(map[*process.Process]machine.Usage)
	for _, p := range some {
		if u, ok := l.from.usage(p); ok {
			found[p] = u
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.killed(now, nil) // before it is forgotten which process was the largest, and after others were found
	for _, p := range some {
		u, ok := found[p]
		switch s := l.running[p]; {
		case s == nil: // it has ended meanwhile
		case ok:
			l.demand.sampled(s, now, u.CPU, u.Wait, u.Ready)
			s.size.sampled(now, u, p.Pid())
		default:
			s.size.rss = 0
		}
	}
}

// some returns up to maxSampled of the running jobs, in no particular order. Those whose size is
// not stable come first, in half of the places.
func (l *Limit) some() (some []*process.Process) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var others []*process.Process
	for p, s := range l.running {
		if len(some) < maxSampled/2 && !s.size.stable() {
			some = append(some, p)
		} else if len(others) < maxSampled {
			others = append(others, p)
		}
	}
	return append(some, others[:min(len(others), maxSampled-len(some))]...)
}
