package stint_test

import (
	"context"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stint-go/stint"
)

// pooled is a run: tasks that are given to a pool of their own.
func pooled(ctx context.Context, n int, f body, opts ...stint.Option) error {
	p := stint.NewPool(opts...)
	for i := range n {
		if p.GoContext(ctx, func(ctx context.Context) { f(ctx, i) }) != nil {
			break
		}
	}
	_, err := p.Shutdown(ctx)
	return err
}

// looped is the usual run.
func looped(ctx context.Context, n int, f body, opts ...stint.Option) error {
	return stint.Range(ctx, n, f, opts...)
}

// run drives a plant until the horizon of m with more items than it can do.
func (p plant) run(t *testing.T, seed int, m *meter, drive run, opts ...stint.Option) {
	t.Helper()
	items := 20_000 + int(2*p.rate(p.best)*m.horizon.Seconds()*1000)
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(context.Background(), m.horizon)
		defer cancel()
		task := m.measured(p.task(random(p.number, seed)))
		drive(ctx, items, func(ctx context.Context, _ int) error { return task(ctx) }, opts...)
		if end := sinceBubble(); end < m.horizon {
			t.Errorf("%s: the tasks ended after %v, want %v", p.name, end, m.horizon)
		}
	})
}

func random(number, seed int) *rand.Rand { return rand.New(rand.NewPCG(uint64(number), uint64(seed))) }

// fixed is what a plant gives at a fixed limit, of what the formula says. The
// horizon is as short as this allows.
func (p plant) fixed(t *testing.T, seed, limit int, drive run) float64 {
	t.Helper()
	const enough = 3000 // tasks
	horizon := p.horizon
	if !p.whole {
		horizon = min(horizon, max(horizon/8, milliseconds(enough/p.rate(limit))))
	}
	m := &meter{horizon: horizon}
	p.run(t, seed, m, drive, stint.Limit(limit))
	equal(t, p.name+": most tasks at once", m.peak, limit)
	return m.rate() / p.rate(limit)
}

// The plants give at each limit what the formula says: too few tasks at once get
// less out of them, more than the best limit no more.
func TestPlantsGiveWhatIsKnown(t *testing.T) {
	for _, p := range plants {
		for seed := range 2 {
			if p.whole && seed > 0 {
				break
			}
			for _, limit := range []int{(p.best + 3) / 4, p.best, min(4*p.best, 256)} {
				if is := p.fixed(t, seed, limit, looped); is < 0.97 || is > 1.03 {
					t.Errorf("%s, seed %d: at limit %d %.3f of the %.3g tasks a millisecond that are known", p.name, seed, limit, is, p.rate(limit))
				}
			}
		}
	}
}

// drives are the doors, with the Pool, but for that of MapSeq, where a slow task
// holds up those behind it: they are yielded in order.
func drives() []door {
	all := []door{{"Pool", pooled}}
	for _, d := range doors {
		if d.name != "MapSeq" {
			all = append(all, d)
		}
	}
	return all
}

// A plant gives the same through every door.
func TestPlantThroughEveryDoor(t *testing.T) {
	p := twentySlots()
	for _, d := range drives() {
		if is := p.fixed(t, 1, p.best, d.run); is < 0.97 || is > 1.03 {
			t.Errorf("%s: %.3f of the rate that is known", d.name, is)
		}
	}
}

// twentySlots is the plant of that name.
func twentySlots() plant {
	return plants[slices.IndexFunc(plants, func(p plant) bool { return p.name == "20 slots" })]
}

// A batch is a few tasks, which end before anything can be learnt from many.
type batch struct {
	number int
	name   string
	n      int
	best   int           // the limit that takes
	took   time.Duration // this long
	task   func(r *rand.Rand) func(context.Context) error
}

var batches = []batch{
	{13, "100 of 0 to 9 ms", 100, 100, 8955 * time.Microsecond, sleeping(uniform, 4.5)},
	{15, "100 on 20 slots", 100, 20, 25 * time.Millisecond, slots(20, alike, 5, nil)},
	{16, "100 of 100 ms", 100, 100, 100 * time.Millisecond, sleeping(alike, 100)},
	{16, "200 of 10 s", 200, 200, 10 * time.Second, sleeping(alike, 10_000)},
}

// run returns how long a batch takes.
func (b batch) run(t *testing.T, seed int, drive run, opts ...stint.Option) (took time.Duration) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		var ended atomic.Int64
		task := b.task(random(b.number, seed))
		err := drive(context.Background(), b.n, func(ctx context.Context, _ int) error {
			defer ended.Add(1)
			return task(ctx)
		}, opts...)
		took = sinceBubble()
		equal(t, b.name+": error", err, nil)
		equal(t, b.name+": tasks", ended.Load(), int64(b.n))
	})
	return took
}

// Batches take the time that is known at the best limit, and many times that at a
// small one.
func TestBatchesTakeWhatIsKnown(t *testing.T) {
	for _, b := range batches {
		for seed := range 4 {
			equal(t, b.name, b.run(t, seed, looped, stint.Limit(b.best)), b.took)
			if took := b.run(t, seed, looped, stint.Limit(2)); took < 10*b.took {
				t.Errorf("%s: %v at limit 2", b.name, took)
			}
		}
	}
}

// Plant 27: a server that turns tasks away. More than it takes are errors, which end
// sooner than what is done: a limiter that counts them finds them a success.
func rejected(t *testing.T, seed int, m *meter, opts ...stint.Option) {
	t.Helper()
	p := plant{number: 27, name: "rejecting", best: 20, rate: servers(20, 5), task: rejecting(20)}
	p.run(t, seed, m, looped, append(opts, stint.KeepGoing())...)
}

func TestRejectingPlant(t *testing.T) {
	for limit, want := range map[int]struct{ rate, failed float64 }{5: {1, 0}, 20: {4, 0}, 24: {4, 0.5}} {
		m := &meter{horizon: 400 * time.Millisecond}
		rejected(t, 1, m, stint.Limit(limit))
		if is := m.rate() / want.rate; is < 0.95 || is > 1.03 {
			t.Errorf("limit %d: %.3f of %v tasks a millisecond", limit, is, want.rate)
		}
		equal(t, "turned away at limit "+strconv.Itoa(limit), m.failing() >= want.failed, true)
		equal(t, "none turned away at limit "+strconv.Itoa(limit), m.failing() == 0, want.failed == 0)
	}
}

// Plant 22: bursts of 50 tasks for 20 slots, which could do twice as many. They are
// waiting for a while in each burst, and there is nothing to do in between.
func burst(t *testing.T, m *meter, l *stint.Limiter) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		p := stint.NewPool(l, stint.Queue(10_000))
		defer p.Close()
		task := m.measured(slots(20, alike, 5, nil)(random(22, 1)))
		for sinceBubble() < m.horizon {
			for range 50 {
				p.Go(func(ctx context.Context) { task(ctx) })
			}
			time.Sleep(25 * time.Millisecond)
		}
	})
}

func TestBurstsOnAPlant(t *testing.T) {
	for limit, want := range map[int]float64{5: 1, 20: 2, 80: 2} {
		m := &meter{horizon: 2 * time.Second}
		burst(t, m, stint.Limit(limit))
		equal(t, "tasks a millisecond at limit "+strconv.Itoa(limit), m.rate(), want)
	}
}

// Plant 25: each task waits until the one 64 later has begun. chained returns how far they
// came in 10 s.
func chained(t *testing.T, drive run, opts ...stint.Option) (ended int) {
	t.Helper()
	const n, depth = 500, 64
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		begun := make([]chan struct{}, n+depth)
		for i := range begun {
			begun[i] = make(chan struct{})
			if i >= n {
				close(begun[i])
			}
		}
		var done atomic.Int64
		drive(ctx, n, func(ctx context.Context, i int) error {
			close(begun[i])
			select {
			case <-begun[i+depth]:
				done.Add(1)
			case <-ctx.Done():
			}
			return nil
		}, opts...)
		ended = int(done.Load())
	})
	return ended
}

func TestChainedPlant(t *testing.T) {
	equal(t, "tasks done at limit 65", chained(t, looped, stint.Limit(65)), 500)
	equal(t, "tasks done at limit 64", chained(t, looped, stint.Limit(64)), 0)
}
