package stint_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/internal/race"
)

// An audit follows what tasks do, and reads what a limiter tells of them.
type audit struct {
	limiter *stint.Limiter

	mu           sync.Mutex
	shortest     time.Duration // task that has ended
	inside, peak int
	ends         int
	figures      int // that were read
	wrong        map[string]bool
}

func audited(l *stint.Limiter) *audit {
	return &audit{limiter: l, shortest: math.MaxInt64, wrong: map[string]bool{}}
}

// over returns task, which a reads the limiter after, now and then.
func (a *audit) over(task func(context.Context) error) func(context.Context) error {
	return func(ctx context.Context) error {
		began := time.Now()
		a.mu.Lock()
		a.inside++
		a.peak = max(a.peak, a.inside)
		a.mu.Unlock()
		err := task(ctx)
		a.mu.Lock()
		defer a.mu.Unlock()
		a.inside--
		a.shortest = min(a.shortest, time.Since(began))
		if a.ends++; a.ends%37 == 0 {
			a.read()
		}
		return err
	}
}

// toldFigures are the throughputs in a reason, each with how many ran.
var toldFigures = regexp.MustCompile(`([0-9.]+)(?: a second)? with ([0-9]+)`)

// read compares what the limiter tells with what can have been. It is called with mu
// held.
func (a *audit) read() {
	s := a.limiter.Stats()
	a.judge(s.Throughput, a.peak, "throughput")
	for _, c := range s.History {
		a.judge(c.Throughput, a.peak, c.Reason)
		for _, m := range toldFigures.FindAllStringSubmatch(c.Reason, -1) {
			x, _ := strconv.ParseFloat(m[1], 64)
			n, _ := strconv.Atoi(m[2])
			a.judge(x, n, c.Reason)
		}
	}
}

// judge notes when n workers cannot have ended x tasks a second. What people read is
// rounded, to three digits at least.
func (a *audit) judge(x float64, n int, what string) {
	if x == 0 {
		return
	}
	a.figures++
	if x*a.shortest.Seconds() > float64(n)*1.005 {
		a.wrong[fmt.Sprintf("%s: %.0f a second with %d, none of less than %v", what, x, n, a.shortest)] = true
	}
}

// report fails the test for what was wrong.
func (a *audit) report(t *testing.T, name string) {
	t.Helper()
	if a.figures == 0 {
		t.Errorf("%s: nothing is told", name)
	}
	for w := range a.wrong {
		t.Errorf("%s: %s, and %d more", name, w, len(a.wrong)-1)
		return
	}
}

// What is told of a search can have been: by J. D. C. Little, n workers at tasks of d
// each end n / d in a second, and no more.
func TestToldThroughputIsPossible(t *testing.T) {
	for i, p := range plants {
		if race.Enabled && i%6 != 0 { // each takes seconds there
			continue
		}
		a := audited(stint.Auto(1, 256))
		p.run(t, 1, &meter{horizon: p.horizon}, func(ctx context.Context, n int, f body, opts ...stint.Option) error {
			task := a.over(func(ctx context.Context) error { return f(ctx, 0) })
			return looped(ctx, n, func(ctx context.Context, _ int) error { return task(ctx) }, opts...)
		}, a.limiter)
		a.report(t, p.name)
	}
}

// The same where workers come and go: what is known of their tasks is less.
func TestToldThroughputIsPossibleWhereWorkersChange(t *testing.T) {
	const d = 10 * time.Millisecond
	around := func(r *rand.Rand) func(context.Context) error {
		var mu sync.Mutex
		return func(context.Context) error {
			mu.Lock()
			nap := d + time.Duration(r.Int64N(int64(d/5)))
			mu.Unlock()
			time.Sleep(nap)
			return nil
		}
	}
	for name, drive := range map[string]func(l *stint.Limiter, task func(context.Context) error){
		"several calls at once":  callsAtOnce,
		"calls after each other": callsAfterEachOther,
		"a pool that was busy":   busyPool,
	} {
		for seed := range 2*autoSeeds - 1 {
			a := audited(stint.Auto(1, 256))
			synctest.Test(t, func(*testing.T) { drive(a.limiter, a.over(around(random(0, seed)))) })
			a.report(t, name)
		}
	}
}

func callsAtOnce(l *stint.Limiter, task func(context.Context) error) {
	var calls sync.WaitGroup
	for i := range 40 {
		calls.Go(func() {
			time.Sleep(time.Duration(i) * 3 * time.Millisecond)
			for range 4 {
				stint.Range(context.Background(), 150, func(ctx context.Context, _ int) error { return task(ctx) }, l)
			}
		})
	}
	calls.Wait()
}

func callsAfterEachOther(l *stint.Limiter, task func(context.Context) error) {
	for range 30 {
		stint.Range(context.Background(), 700, func(ctx context.Context, _ int) error { return task(ctx) }, l)
		time.Sleep(20 * time.Millisecond)
	}
}

// busyPool is tasks that have begun before anybody waited.
func busyPool(l *stint.Limiter, task func(context.Context) error) {
	p := stint.NewPool(l)
	for range 20 {
		for range l.Current() {
			p.Go(func(ctx context.Context) { task(ctx) })
			time.Sleep(100 * time.Microsecond)
		}
		time.Sleep(8 * time.Millisecond)
		for range 1500 {
			p.Go(func(ctx context.Context) { task(ctx) })
		}
		p.Idle(context.Background())
		time.Sleep(5 * time.Second)
	}
	p.Close()
}
