package auto

import (
	"time"

	"github.com/stint-go/stint/internal/workload"
)

// searched is a search as a workload.Governor.
type searched struct{ search }

// newSearched returns a search for a workload, with the configuration of stint.Auto.
func newSearched(w *workload.Workload) *searched {
	g := &searched{search{Config: Config{Min: 1, Max: 256, Burst: 42, Procs: w.Procs}}}
	g.begin()
	return g
}

func (g *searched) Limit() int { return g.search.limit }

func (g *searched) Done(now, took float64, running int, full, overloaded bool) float64 {
	if overloaded {
		g.overloaded(ms(now), 0)
		g.failed(ms(now), 1, 0)
	} else {
		g.finished(batch{now: ms(now), n: 1, took: ms(took), running: running, waiting: full})
	}
	return now + 500
}

func (g *searched) Tick(now float64, _ int, full bool) float64 {
	if full && g.overdue(ms(now)) {
		g.stalled(ms(now))
	}
	return now + 500
}

func ms(t float64) time.Duration { return time.Duration(t * float64(time.Millisecond)) }
