package debug

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	"github.com/stint-go/stint"
)

// A snapshot is the state that all formats show.
type snapshot struct {
	Time     time.Time               `json:"time"`
	Pools    map[string]poolStats    `json:"pools"`
	Limiters map[string]limiterStats `json:"limiters"`
}

// poolStats is the state of a pool, with a throughput from two samples.
type poolStats struct {
	stint.PoolStats
	Limiter    string   `json:"limiter,omitempty"`    // the name of its limiter in the Handler
	Throughput *float64 `json:"throughput,omitempty"` // tasks a second; nil if not known
	Spark      *spark   `json:"-"`
}

// limiterStats is the state of a limiter.
type limiterStats struct {
	stint.LimiterStats
	Spark   *spark `json:"-"`
	samples []sample
}

// snapshot samples all pools and limiters. It holds mu meanwhile, so that concurrent
// requests sample a pool in the order of time, and no throughput is negative.
func (h *Handler) snapshot() snapshot {
	h.mu.Lock()
	defer h.mu.Unlock()
	s := snapshot{time.Now(), map[string]poolStats{}, map[string]limiterStats{}}
	names := map[any]string{} // of limiters
	for name, l := range sorted(h.limiters) {
		stats := l.Stats()
		l.add(s.Time, stats.Completed)
		s.Limiters[name] = limiterStats{stats, l.spark(), slices.Clone(l.samples)}
		if _, ok := names[l.core]; !ok {
			names[l.core] = name
		}
	}
	for name, p := range h.pools {
		stats := p.sampled(s.Time)
		stats.Limiter = names[p.core]
		s.Pools[name] = stats
	}
	return s
}

// A pool is an entry of a Handler, with the samples of earlier requests.
type pool struct {
	*stint.Pool
	core any // what bounds it: equal to that of its limiter
	series
	base sample // the start of the throughput; none if its time is zero
	last sample // the next base
}

// A sample is the number of completed tasks at a time.
type sample struct {
	time      time.Time
	completed uint64
}

// minSampleAge is the age at which a sample becomes the base: clients that ask one after the
// other must not get throughputs of a millisecond.
const minSampleAge = time.Second / 2

// sampled returns the state of p, and keeps a sample for later requests.
func (p *pool) sampled(now time.Time) poolStats {
	s := poolStats{PoolStats: p.Stats()}
	p.add(now, s.Completed)
	s.Spark = p.spark()
	if now.Sub(p.last.time) >= minSampleAge {
		p.base, p.last = p.last, sample{now, s.Completed}
	}
	if !p.base.time.IsZero() {
		throughput := float64(s.Completed-p.base.completed) / now.Sub(p.base.time).Seconds()
		s.Throughput = &throughput
	}
	return s
}

// A cell is a formatted value, and the name of its column.
type cell struct{ Name, Text string }

// Cells returns the values of a pool.
func (p poolStats) Cells() []cell {
	return []cell{
		{"limiter", printable(cmp.Or(p.Limiter, "-"))},
		{"limit", strconv.Itoa(p.Limit)},
		{"running", strconv.Itoa(p.Running)},
		{"queued", strconv.Itoa(p.Queued)},
		{"waiting", strconv.Itoa(p.Waiting)},
		{"workers", strconv.Itoa(p.Workers)},
		{"idle", strconv.Itoa(p.Idle)},
		{"completed", strconv.FormatUint(p.Completed, 10)},
		{"failed", strconv.FormatUint(p.Failed, 10)},
		{"dropped", strconv.FormatUint(p.Dropped, 10)},
		{"refused", strconv.FormatUint(p.Refused, 10)},
		{"tasks/s", rate(p.Throughput)},
	}
}

// Cells returns the values of a limiter.
func (l limiterStats) Cells() []cell {
	return []cell{
		{"limit", strconv.Itoa(l.Limit)},
		{"running", strconv.Itoa(l.Running)},
		{"waiting", strconv.Itoa(l.Waiting)},
		{"completed", strconv.FormatUint(l.Completed, 10)},
		{"failed", strconv.FormatUint(l.Failed, 10)},
		{"refused", strconv.FormatUint(l.Refused, 10)},
		{"tasks/s", rate(measured(l.Throughput))},
		{"phase", l.Phase},
	}
}

// measured returns nil for a throughput of 0, which was not measured.
func measured(throughput float64) *float64 {
	if throughput == 0 {
		return nil
	}
	return &throughput
}

// perSecond formats a measured throughput with its unit, or a dash.
func perSecond(throughput float64) string {
	if throughput == 0 {
		return "-"
	}
	return commas(rate(&throughput)) + "/s"
}

// rate formats a throughput with three digits, or all before the decimal point; a dash if
// it is unknown.
func rate(throughput *float64) string {
	switch {
	case throughput == nil:
		return "-"
	case *throughput < 99.95:
		return strconv.FormatFloat(*throughput, 'g', 3, 64)
	}
	return strconv.FormatFloat(*throughput, 'f', 0, 64)
}
