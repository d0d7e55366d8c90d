package limit

import (
	"time"

	"github.com/stint-go/stint/cmd/stint/internal/machine"
	"github.com/stint-go/stint/cmd/stint/internal/process"
)

const (
	firstLook  = 10 * time.Millisecond  // between two looks, at first
	lastLook   = 100 * time.Millisecond // the same, later
	maxSampled = 32                     // jobs at each look
)

// watch adapts the gate until the limit is closed. It looks often at first, so that no job has
// to end before others start.
func (l *Limit) watch() {
	meter, sampler := machine.NewMeter(), new(machine.Sampler)
	defer meter.Close()
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
		l.look(meter, sampler, now, now.Sub(last))
		last = now
		timer.Reset(min(lastLook, max(firstLook, now.Sub(began)/10)))
	}
}

// look samples running jobs and sets the gate.
func (l *Limit) look(meter *machine.Meter, sampler *machine.Sampler, now time.Time, elapsed time.Duration) {
	rss := l.sample(sampler, now)
	l.mu.Lock()
	defer l.mu.Unlock()
	current, running := l.gate.Current(), len(l.running)
	n, reason := l.most, "" // unless memory is short
	if l.search != nil {
		n, reason = l.demand.limit(current, elapsed)
		if n > current && running < current {
			n, reason = current, "" // the limit is not what keeps jobs back
		}
	}
	if m, ok := meter.Memory(); ok {
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
func (l *Limit) sample(sampler *machine.Sampler, now time.Time) (rss float64) {
	l.mu.Lock()
	all := len(l.running)
	some := make(map[*process.Process]*sample, maxSampled)
	for p, s := range l.running {
		if len(some) == maxSampled {
			break
		}
		some[p] = s
	}
	l.mu.Unlock()
	if len(some) == 0 {
		return 0
	}
	weight := float64(all) / float64(len(some))
	for p := range some {
		u, ok := sampler.Sample(p.Pid())
		l.mu.Lock()
		if s := l.running[p]; ok && s != nil { // it has not ended meanwhile
			l.demand.sampled(s, now, u.CPU+u.Reaped, u.Wait, weight)
			l.memory.need = max(l.memory.need, float64(u.RSS))
			rss += float64(u.RSS) * weight
		}
		l.mu.Unlock()
	}
	return rss
}
