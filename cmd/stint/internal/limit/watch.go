package limit

import (
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
	cpus   func() int
	memory func() (machine.Memory, bool)
	usage  func(*process.Process) (machine.Usage, bool) // not ok: the process has ended, or nothing tells
}

// watch adapts the gate until the limit is closed. It looks often at first, so that no job has
// to end before others start.
func (l *Limit) watch() {
	meter, sampler := machine.NewMeter(), new(machine.Sampler)
	defer meter.Close()
	usage := func(p *process.Process) (machine.Usage, bool) {
		u, ok := sampler.Sample(p.Pid())
		return u, ok && !p.Reaped() // otherwise the number may be that of another process
	}
	from := sensors{machine.CPUs, meter.Memory, usage}
	began, last := time.Now(), time.Now()
	timer := time.NewTimer(firstLook)
	defer timer.Stop()
	for {
		select {
		case <-l.stop:
			return
		case <-timer.C:
		}
		now := time.Now()
		l.look(from, now, min(now.Sub(last), maxElapsed))
		last = now
		timer.Reset(min(lastLook, max(firstLook, now.Sub(began)/10)))
	}
}

// look samples running jobs and sets the gate.
func (l *Limit) look(from sensors, now time.Time, elapsed time.Duration) {
	rss := l.sample(from, now)
	l.mu.Lock()
	defer l.mu.Unlock()
	current, running := l.gate.Current(), len(l.running)
	n, reason := l.most, "" // unless memory is short
	if l.search != nil {
		l.demand.cpus = float64(from.cpus())
		n, reason = l.demand.limit(current, elapsed)
		if n > current && float64(running) < sameShare*float64(current) {
			n, reason = current, "" // the limit is not what keeps jobs back
		}
		if most := l.system.limit(now); most < n {
			n, reason = most, systemReason
		}
	}
	if m, ok := from.memory(); ok {
		if most, why := l.memory.limit(running, rss, m); most < n {
			n, reason = most, why
		}
	}
	if n = min(n, l.most); n != current || reason != "" {
		l.set(n, reason)
	}
}

// sample samples some of the running jobs, in no particular order, and returns the bytes of
// memory that all have together, about.
func (l *Limit) sample(from sensors, now time.Time) (rss float64) {
	some, all := l.some()
	for _, p := range some {
		u, ok := from.usage(p)
		l.mu.Lock()
		if s := l.running[p]; ok && s != nil { // it has not ended meanwhile
			l.demand.sampled(s, now, u.CPU+u.Reaped, u.Wait)
			l.memory.need = max(l.memory.need, float64(u.RSS))
			rss += float64(u.RSS) * float64(all) / float64(len(some))
		}
		l.mu.Unlock()
	}
	return rss
}

// some returns up to maxSampled of the running jobs, and how many run.
func (l *Limit) some() (some []*process.Process, all int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for p := range l.running {
		if len(some) == maxSampled {
			break
		}
		some = append(some, p)
	}
	return some, len(l.running)
}
