package debug

import (
	"strconv"
	"time"

	"github.com/stint-go/stint"
)

// A snapshot is what all formats show.
type snapshot struct {
	Time     time.Time               `json:"time"`
	Pools    map[string]poolStats    `json:"pools"`
	Limiters map[string]limiterStats `json:"limiters"`
}

// poolStats are those of a pool, and what takes two samples to know.
type poolStats struct {
	stint.Stats
	Throughput *float64 `json:"throughput,omitempty"` // tasks a second; nil if not known
}

// limiterStats are those of a limiter.
type limiterStats struct{ stint.LimiterStats }

// snapshot samples all that was added. It holds mu meanwhile, so that the samples of a
// pool are taken in the order of their times, whoever asks at once: no throughput is
// negative.
func (h *Handler) snapshot() snapshot {
	h.mu.Lock()
	defer h.mu.Unlock()
	s := snapshot{time.Now(), map[string]poolStats{}, map[string]limiterStats{}}
	for name, p := range h.pools {
		s.Pools[name] = p.sampled(s.Time)
	}
	for name, l := range h.limiters {
		s.Limiters[name] = limiterStats{l.Stats()}
	}
	return s
}

// A pool is one that was added, with the samples that requests have taken of it.
type pool struct {
	*stint.Pool
	base sample // throughput is told against it; none if its time is zero
	last sample // the next base
}

// A sample is how many tasks had ended when.
type sample struct {
	time      time.Time
	completed uint64
}

// apart is how old a sample is at least when it becomes the base. Several readers may
// ask at any time, and what each is told should mean something.
const apart = time.Second / 2

// sampled returns the state of p, and keeps what the next ones need of it.
func (p *pool) sampled(now time.Time) poolStats {
	s := poolStats{Stats: p.Stats()}
	if now.Sub(p.last.time) >= apart {
		p.base, p.last = p.last, sample{now, s.Completed}
	}
	if !p.base.time.IsZero() {
		throughput := float64(s.Completed-p.base.completed) / now.Sub(p.base.time).Seconds()
		s.Throughput = &throughput
	}
	return s
}

// A cell is a figure for people, under the name of its column.
type cell struct{ Name, Text string }

// Cells are the figures of a pool.
func (p poolStats) Cells() []cell {
	return []cell{
		{"limit", strconv.Itoa(p.Limit)},
		{"running", strconv.Itoa(p.Running)},
		{"queued", strconv.Itoa(p.Queued)},
		{"waiting", strconv.Itoa(p.Waiting)},
		{"workers", strconv.Itoa(p.Workers)},
		{"idle", strconv.Itoa(p.Idle)},
		{"completed", strconv.FormatUint(p.Completed, 10)},
		{"dropped", strconv.FormatUint(p.Dropped, 10)},
		{"tasks/s", rate(p.Throughput)},
	}
}

// Cells are the figures of a limiter.
func (l limiterStats) Cells() []cell {
	return []cell{
		{"limit", strconv.Itoa(l.Limit)},
		{"running", strconv.Itoa(l.Running)},
		{"waiting", strconv.Itoa(l.Waiting)},
		{"tasks/s", rate(measured(l.Throughput))},
		{"phase", l.Phase},
	}
}

// measured is a throughput that is 0 if it was not measured.
func measured(throughput float64) *float64 {
	if throughput == 0 {
		return nil
	}
	return &throughput
}

// rate writes a throughput with three digits, or all that are before the point; or
// a dash if it is not known.
func rate(throughput *float64) string {
	switch {
	case throughput == nil:
		return "-"
	case *throughput < 99.95:
		return strconv.FormatFloat(*throughput, 'g', 3, 64)
	}
	return strconv.FormatFloat(*throughput, 'f', 0, 64)
}
