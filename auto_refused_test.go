package stint_test

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/internal/race"
)

// offered has a pool be offered tasks of p, twice as many as that can do, of which it
// refuses those that it has no room for. It returns the mean of the limit over the
// second half of the time, and the meter.
func offered(t *testing.T, p plant, seed int, queue int) (limit float64, m *meter) {
	interval := time.Duration(float64(time.Millisecond) / p.most() / 2)
	m = &meter{horizon: p.horizon}
	synctest.Test(t, func(*testing.T) {
		limiter := stint.Auto(1, 256)
		pool := stint.NewPool(limiter, stint.Queue(queue))
		task := m.measured(p.task(random(p.number, seed)))
		samples := 0.0
		for sinceBubble() < p.horizon {
			pool.TryGo(func(ctx context.Context) { task(ctx) })
			time.Sleep(interval)
			if sinceBubble() > p.horizon/2 {
				limit += float64(limiter.Current())
				samples++
			}
		}
		limit /= samples
		pool.Close()
	})
	return limit, m
}

// Who is refused a place counts as somebody who waits for it: where work is turned away,
// the same limit is found as where it waits, at servers that do worse with more.
func TestAutoFindsTheLimitOfWhatIsRefused(t *testing.T) {
	names := []string{"20 slots", "20 slots, shared", "cliff", "sleep"}
	if race.Enabled { // nothing is judged there
		names = names[:1]
	}
	for _, name := range names {
		p := plants[slices.IndexFunc(plants, func(p plant) bool { return p.name == name })]
		var refused, waited []float64
		x := trial{what: name + ", refused", most: p.most(), best: p.best}
		for seed := range autoSeeds {
			limit, m := offered(t, p, seed, 0)
			refused, x.runs = append(refused, limit), append(x.runs, m)
			limit, _ = offered(t, p, seed, 100)
			waited = append(waited, limit)
		}
		x.judge(t, mark{rate: 0.9})
		slices.Sort(refused)
		slices.Sort(waited)
		is := refused[len(refused)/2] / waited[len(waited)/2]
		x.hold(t, "of the limit found for those that wait, at most", is, 1.3)
		x.hold(t, "of that, at least", -is, -0.75)
	}
}
