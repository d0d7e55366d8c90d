package conformance_test

import (
	"context"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/internal/race"
	"github.com/stint-go/stint/internal/workload"
)

// A refuser starts a task now or refuses it. The function end waits for the tasks.
type refuser struct {
	name string
	open func(l *stint.Limiter) (try func(func(context.Context) error), end func())
}

// refusers are the ways to be refused by an adaptive limit.
var refusers = []refuser{
	{"Pool.TryGo", func(l *stint.Limiter) (func(func(context.Context) error), func()) {
		p := stint.NewPool(l, stint.Queue(0))
		return func(f func(context.Context) error) { _ = p.TryGo(func(ctx context.Context) { f(ctx) }) }, p.Close
	}},
	{"Group.TryGo", func(l *stint.Limiter) (func(func(context.Context) error), func()) {
		g := stint.NewGroup(bg, l, stint.Queue(0))
		return func(f func(context.Context) error) { _ = g.TryGo(f) }, func() { g.Wait() }
	}},
	{"Limiter.TryDo", callers((*stint.Limiter).TryDo)},
}

// callers are goroutines that call do.
func callers(do func(*stint.Limiter, context.Context, func(context.Context) error) error) func(*stint.Limiter) (func(func(context.Context) error), func()) {
	return func(l *stint.Limiter) (func(func(context.Context) error), func()) {
		ctx, cancel := context.WithCancel(bg)
		var all sync.WaitGroup
		return func(f func(context.Context) error) { all.Go(func() { do(l, ctx, f) }) }, func() { cancel(); all.Wait() }
	}
}

// refused offers tasks of w at a rate, in tasks a millisecond, at random times. It returns
// the meter and the limits at the end of each half second.
func refused(t *testing.T, w *workload.Workload, r refuser, rate float64, seed int) (*workload.Meter, []int) {
	t.Helper()
	var live *workload.Live
	var limits []int
	synctest.Test(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(uint64(seed), 5))
		l := stint.Auto(1, 256)
		try, end := r.open(l)
		live = workload.NewLive(w, uint64(seed))
		for milliseconds(sinceBubble()) < w.Until {
			if int(2*sinceBubble()/time.Second) > len(limits) {
				limits = append(limits, l.Current())
			}
			try(live.Task)
			time.Sleep(max(1, time.Duration(rng.ExpFloat64()/rate*float64(time.Millisecond))))
		}
		live.Stop()
		end()
	})
	return &live.Meter, limits
}

// At servers of 20 slots that have a queue, or collapse above 30, with more tasks than they
// can serve, nobody waits: tasks are refused. The limit comes near 20 on average over
// the seeds, and the search continues.
func TestRefusalsTeachTheSearch(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: many runs, each until the search has settled")
	}
	seeds := map[bool]int{false: 3, true: 1}[race.Enabled]
	for _, name := range []string{"5 slots k=20", "10 cliff"} {
		tr := *trialOf(name)
		tr.Until, tr.From = 8_000, 3_000
		if race.Enabled {
			tr.Until, tr.From = 500, 0
		}
		for i, r := range refusers {
			var late []int
			share, mean := 0.0, 0.0
			for seed := range seeds {
				load := []float64{1.5, 3}[(seed+i)%2]
				m, limits := refused(t, &tr.Workload, r, load*tr.Best, seed)
				late = append(late, limits[len(limits)/2:]...)
				share += m.Throughput() / tr.Best / float64(seeds)
				mean += m.Mean() / float64(seeds)
			}
			slices.Sort(late)
			if race.Enabled {
				continue // nothing is judged
			}
			if median := late[len(late)/2]; share < 0.9 || mean > 40 || median < 14 || median > 36 || late[0] == late[len(late)-1] {
				t.Errorf("%s, %s: %.2f of the throughput, %.1f tasks on average, later limits %v", name, r.name, share, mean, late)
			}
		}
	}
}

// Refused tasks raise a limit at its start as waiting ones do: it takes about as long, if
// more tasks are offered than the limit allows.
func TestRefusalsRaiseTheLimit(t *testing.T) {
	onlySearches(t)
	const most = 200
	until := func(r refuser) (took time.Duration) {
		synctest.Test(t, func(t *testing.T) {
			l := stint.Auto(1, most)
			try, end := r.open(l)
			for l.Current() < most && took < time.Minute {
				try(sleep(10 * time.Millisecond))
				time.Sleep(10 * time.Microsecond)
				took = sinceBubble()
			}
			end()
		})
		return took
	}
	waiting := until(refuser{"Limiter.Do", callers((*stint.Limiter).Do)})
	for _, r := range refusers {
		if took := until(r); took > waiting*5/4 {
			t.Errorf("%s: %v until the limit is %d; with tasks that wait %v", r.name, took, most, waiting)
		}
	}
}
