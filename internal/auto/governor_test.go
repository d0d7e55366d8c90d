package auto

import (
	"math"
	"time"
)

// fixed is a governor that does not change its mind.
type fixed int

func (f fixed) limit() int                                  { return int(f) }
func (f fixed) done(_, _ float64, _ int, _, _ bool) float64 { return 0 }
func (f fixed) tick(float64, int, bool) float64             { return 0 }

// searched is a search as a governor.
type searched struct{ search }

// newSearched returns a search for a plant, with what stint.Auto gives it.
func newSearched(p *plant) *searched {
	g := &searched{search{Config: Config{Min: 1, Max: 256, Burst: 36, Procs: p.procs}}}
	g.begin()
	return g
}

func (g *searched) limit() int { return g.search.limit }

func (g *searched) done(now, took float64, running int, full, overloaded bool) float64 {
	if overloaded {
		g.overloaded(ms(now), true)
	}
	g.ended(ms(now), 1, ms(took), running, full)
	return now + 500
}

func (g *searched) tick(now float64, _ int, full bool) float64 {
	if full {
		if g.overdue(ms(now)) {
			g.stalled(ms(now))
		}
	}
	return now + 500
}

func ms(t float64) time.Duration { return time.Duration(t * float64(time.Millisecond)) }

// aimd is the AIMDLimit of concurrency-limits with its defaults, but for the
// maximum: one more for each task that ends with at least half of the places taken,
// a tenth less for one that is dropped or took more than 5 s.
type aimd int

func (l *aimd) limit() int { return int(*l) }

func (l *aimd) done(_, latency float64, running int, _, overloaded bool) float64 {
	n := *l
	switch {
	case overloaded || latency > 5000:
		n = aimd(float64(n) * 0.9)
	case 2*running >= int(n):
		n++
	}
	*l = max(20, min(n, 256))
	return 0
}

func (l *aimd) tick(float64, int, bool) float64 { return 0 }

// gradient2 is the Gradient2Limit of concurrency-limits in its WindowedLimit, with
// their defaults but for the maximum: the limit follows the ratio of the mean time
// that tasks took for long and in the last window, of 1 s and 10 tasks at least.
type gradient2 struct {
	estimate float64

	long  float64 // mean over about 600 windows
	count int     // windows in it, as long as they are few

	next     float64 // when the window ends
	sum      float64 // of latencies in it
	samples  float64
	inflight int // most at once
}

func newGradient2() *gradient2 { return &gradient2{estimate: 20} }

func (g *gradient2) limit() int { return int(g.estimate) }

func (g *gradient2) done(now, latency float64, running int, _, _ bool) float64 {
	if latency < 0.1 {
		return 0
	}
	g.sum += latency
	g.samples++
	g.inflight = max(g.inflight, running)
	if now > g.next && g.samples >= 10 {
		g.window(g.sum/g.samples, g.inflight)
		g.next, g.sum, g.samples, g.inflight = now+1000, 0, 0, 0
	}
	return 0
}

// window takes in the mean latency in a window.
func (g *gradient2) window(short float64, inflight int) {
	if g.count < 10 { // these are averaged
		g.count++
		g.long += (short - g.long) / float64(g.count)
	} else {
		g.long += (short - g.long) * 2 / (600 + 1)
	}
	if g.long > 2*short {
		g.long *= 0.95
	}
	if float64(inflight) < g.estimate/2 {
		return
	}
	gradient := max(0.5, min(1, 1.5*g.long/short))
	const smoothing, queue = 0.2, 4
	n := g.estimate*(1-smoothing) + (g.estimate*gradient+queue)*smoothing
	g.estimate = math.Max(20, math.Min(n, 256))
}

func (g *gradient2) tick(float64, int, bool) float64 { return 0 }
