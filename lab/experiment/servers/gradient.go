package servers

import (
	"sync"
	"time"
)

// A gradient limits by the ratio of the long-term to the current latency, as
// Gradient2Limit of github.com/Netflix/concurrency-limits does, with its default
// settings but the limits: from 1 to a maximum, 20 at first.
type gradient struct {
	mu     sync.Mutex
	free   sync.Cond
	inside int
	max    float64
	limit  float64
	long   float64 // smoothed latency in ns
	n      int     // latencies, up to warmup
}

// The default settings.
const (
	window    = 600 // latencies of the smoothed one
	warmup    = 10  // latencies of which the mean is taken at first
	smoothing = 0.2
	queueSize = 4
)

func newGradient(most int) *gradient {
	g := &gradient{max: float64(most), limit: 20}
	g.free.L = &g.mu
	return g
}

// acquire waits for a permit.
func (g *gradient) acquire() (release func(served bool)) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for g.inside >= int(g.limit) {
		g.free.Wait()
	}
	g.inside++
	inside, began := g.inside, time.Now()
	return func(bool) {
		g.mu.Lock()
		g.update(float64(time.Since(began)), inside)
		g.inside--
		g.mu.Unlock()
		g.free.Broadcast()
	}
}

// update learns the latency of a task.
func (g *gradient) update(short float64, inside int) {
	if g.n < warmup {
		g.n++
		g.long += (short - g.long) / float64(g.n)
	} else {
		g.long += (short - g.long) * 2 / (window + 1)
	}
	if g.long/short > 2 {
		g.long *= 0.9
	}
	if float64(inside) < g.limit/2 {
		return
	}
	next := g.limit*max(0.5, min(1, g.long/short)) + queueSize
	g.limit = max(1, min(g.max, g.limit*(1-smoothing)+next*smoothing))
}
