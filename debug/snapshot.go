package debug

import (
	"iter"
	"maps"
	"slices"
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
	series
}

// limiterStats is the state of a limiter.
type limiterStats struct {
	stint.LimiterStats
	series
}

// snapshot samples all pools and limiters. It holds mu meanwhile, so that concurrent
// requests sample a pool in the order of time, and no throughput is negative.
func (h *Handler) snapshot() snapshot {
	h.mu.Lock()
	defer h.mu.Unlock()
	s := snapshot{time.Now(), map[string]poolStats{}, map[string]limiterStats{}}
	names := map[any]string{} // of limiters; the first of several
	for name, l := range h.limiters {
		stats := l.stats()
		l.add(s.Time, stats.Completed)
		s.Limiters[name] = limiterStats{stats, l.series}
		if first, ok := names[l.core]; !ok || name < first {
			names[l.core] = name
		}
	}
	for name, p := range h.pools {
		stats := p.stats()
		p.add(s.Time, stats.Completed)
		pool := poolStats{stats, names[p.core], nil, p.series}
		if rates := p.rates(); len(rates) > 0 {
			pool.Throughput = &rates[len(rates)-1]
		}
		s.Pools[name] = pool
	}
	return s
}

// A series has the numbers of finished tasks at earlier requests. A copy of a series stays as
// it is.
type series []sample

// A sample is the number of finished tasks at a time.
type sample struct {
	time      time.Time
	completed uint64
}

const (
	// maxSamples bounds a series. With a page open, which asks each second, the samples are
	// those of two minutes.
	maxSamples = 121
	// minSampleAge is the time between two samples: clients that ask one after the other must
	// not get throughputs of a millisecond.
	minSampleAge = time.Second / 2
)

// add adds a sample, unless the last one is too young.
func (s *series) add(now time.Time, completed uint64) {
	n := len(*s)
	if n > 0 && now.Sub((*s)[n-1].time) < minSampleAge {
		return
	}
	if n == maxSamples {
		*s = slices.Clone((*s)[1:])
	}
	*s = append(*s, sample{now, completed})
}

// rates returns the tasks finished per second between each sample and the next.
func (s series) rates() (out []float64) {
	for i := 1; i < len(s); i++ {
		finished := float64(s[i].completed - s[i-1].completed)
		out = append(out, finished/s[i].time.Sub(s[i-1].time).Seconds())
	}
	return out
}

// sorted returns the entries of m, by name.
func sorted[T any](m map[string]T) iter.Seq2[string, T] {
	return func(yield func(string, T) bool) {
		for _, name := range slices.Sorted(maps.Keys(m)) {
			if !yield(name, m[name]) {
				return
			}
		}
	}
}
