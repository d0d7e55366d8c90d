package debug

import (
	"time"

	"github.com/stint-go/stint"
)

// A snapshot is the state that all formats show.
type snapshot struct {
	Time     time.Time               `json:"time"`
	Pools    map[string]poolStats    `json:"pools"`
	Limiters map[string]limiterStats `json:"limiters"`
}

// poolStats is the state of a pool.
type poolStats struct {
	stint.PoolStats
	Limiter    string   `json:"limiter,omitempty"`    // the name of its limiter in the Handler
	Throughput *float64 `json:"throughput,omitempty"` // tasks per second; nil if not known
}

// limiterStats is the state of a limiter.
type limiterStats struct{ stint.LimiterStats }

// snapshot samples all pools and limiters. It holds mu meanwhile, so that concurrent
// requests sample a pool in the order of time, and no throughput is negative.
func (h *Handler) snapshot() snapshot {
	h.mu.Lock()
	defer h.mu.Unlock()
	s := snapshot{time.Now(), map[string]poolStats{}, map[string]limiterStats{}}
	names := map[any]string{} // of limiters; the first of several
	for name, l := range h.limiters {
		s.Limiters[name] = limiterStats{l.stats()}
		if first, ok := names[l.core]; !ok || name < first {
			names[l.core] = name
		}
	}
	for name, p := range h.pools {
		stats := p.stats()
		p.sample(s.Time, stats.Completed)
		s.Pools[name] = poolStats{stats, names[p.core], p.perSecond}
	}
	return s
}

// A throughput is the number of tasks that finished per second between two requests.
type throughput struct {
	at        time.Time // of the later request
	completed uint64    // tasks until then
	perSecond *float64  // nil: there was one request
}

// sample brings t up to date, unless it is too young: clients that ask one after the other
// must not get throughputs of a millisecond.
func (t *throughput) sample(now time.Time, completed uint64) {
	age, first := now.Sub(t.at), t.at.IsZero()
	if !first && age < time.Second/2 {
		return
	}
	if !first {
		rate := float64(completed-t.completed) / age.Seconds()
		t.perSecond = &rate
	}
	t.at, t.completed = now, completed
}
