package conformance_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stint-go/stint"
)

// A task that somebody waits for does not wait longer than one background task runs, beside
// a flood of those. Without LowPriority it does.
func TestLowPriorityWait(t *testing.T) {
	const background = 10 * time.Millisecond
	for _, kind := range limitKinds[2:4] {
		for i, e := range entryPoints {
			urgent := entryPoints[(i+1)%len(entryPoints)] // each is in both roles
			t.Run(e.name+"/"+urgent.name+"/"+kind.name, func(t *testing.T) {
				low := waits(t, e.run, urgent.run, kind, background, stint.LowPriority())
				equal(t, fmt.Sprint("too long with LowPriority: ", low), low > background, false)
			})
		}
		t.Run("without/"+kind.name, func(t *testing.T) {
			plain := waits(t, entry("Group"), entry("Each"), kind, background)
			equal(t, fmt.Sprint("longer without LowPriority: ", plain), plain > background, true)
		})
	}
}

// entry returns the entry point called name.
func entry(name string) run {
	i := slices.IndexFunc(entryPoints, func(e entryPoint) bool { return e.name == name })
	return entryPoints[i].run
}

// waits returns the longest wait of tasks that come one by one through urgent, beside a
// flood of tasks of the given duration on eight permits.
func waits(t *testing.T, flood, urgent run, kind limitKind, duration time.Duration, more ...stint.Option) (longest time.Duration) {
	synctest.Test(t, func(t *testing.T) {
		defer noneLeft(t)
		opts, shut := kind.open(8)
		defer shut()
		ctx, cancel := context.WithCancel(t.Context())
		var background gauge
		task := func(_ context.Context, i int) error {
			background.Hold(duration - time.Duration(i%7)*100*time.Microsecond)
			return nil
		}
		var wg sync.WaitGroup
		for range 32 {
			wg.Go(func() { flood(ctx, 100, task, append(more, opts...)...) })
		}
		r := rand.New(rand.NewPCG(1, 2))
		for range 50 {
			time.Sleep(time.Duration(r.IntN(int(duration))))
			came := time.Now()
			urgent(t.Context(), 1, func(context.Context, int) error {
				longest = max(longest, time.Since(came))
				time.Sleep(time.Millisecond)
				return nil
			}, opts...)
		}
		if background.Total() < 50 || background.Max() > 8 {
			t.Errorf("%d background tasks ran beside 50 others, %d at once; want 50 or more, 8 at most", background.Total(), background.Max())
		}
		cancel()
		wg.Wait()
	})
	return longest
}

// Tasks of low priority give way at once, however short they are, and start in the order in
// which they came when nobody else waits.
func TestLowPriorityOrder(t *testing.T) {
	both(t, 1, func(t *testing.T, opt stint.Option, _ func(int)) { orderOfPriorities(t, opt) })
}

func orderOfPriorities(t *testing.T, opt stint.Option) {
	var mu sync.Mutex
	var order []string
	var groups []*stint.Group
	add := func(name string, n int, d time.Duration, opts ...stint.Option) {
		g := stint.NewGroup(t.Context(), append(opts, opt)...)
		for i := range n {
			g.Go(func(context.Context) error {
				mu.Lock()
				order = append(order, fmt.Sprint(name, i))
				mu.Unlock()
				time.Sleep(d)
				return nil
			})
		}
		groups = append(groups, g)
		synctest.Wait()
	}
	add("low", 3, 10*time.Microsecond, stint.LowPriority())
	add("a", 2, time.Millisecond)
	add("later", 2, time.Second, stint.LowPriority())
	add("b", 2, time.Millisecond)
	time.Sleep(3 * time.Millisecond)
	add("c", 1, 2*time.Millisecond)
	for _, g := range groups {
		equal(t, "Wait", g.Wait(), nil)
	}
	equal(t, "the first task", order[0], "low0")
	others := slices.Sorted(slices.Values(order[1:6]))
	equal(t, "the next tasks", fmt.Sprint(others), "[a0 a1 b0 b1 c0]")
	equal(t, "a later group is served first", slices.Index(order, "low1") > slices.Index(order, "later1"), false)
}

// An entry in the limiter's queue has the priority of the task that a pool runs next.
func TestPoolWaitsWithThePriorityOfItsNextTask(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		defer noneLeft(t)
		l := stint.Limit(1)
		p := stint.NewPool(l)
		defer p.Close()
		var mu sync.Mutex
		var order []string
		task := func(name string) func(context.Context) error {
			return func(context.Context) error {
				mu.Lock()
				defer mu.Unlock()
				order = append(order, name)
				time.Sleep(time.Millisecond)
				return nil
			}
		}
		first := stint.NewGroup(t.Context(), l)
		stranger := stint.NewGroup(t.Context(), l, stint.LowPriority())
		own := stint.NewGroup(t.Context(), p, stint.LowPriority())
		first.Go(task("first"))
		synctest.Wait()
		stranger.Go(task("low of a stranger"))
		own.Go(task("low of the pool"))
		ctx, cancel := context.WithCancel(t.Context())
		dropped := stint.NewGroup(ctx, p)
		dropped.Go(task("dropped"))
		cancel() // the pool has only a task of low priority again
		synctest.Wait()
		second := stint.NewGroup(t.Context(), l)
		second.Go(task("second"))
		synctest.Wait()
		p.Go(func(ctx context.Context) { task("pool")(ctx) })
		for _, g := range []*stint.Group{first, stranger, own, second} {
			equal(t, "Wait", g.Wait(), nil)
		}
		dropped.Wait()
		want := []string{"first", "second", "pool", "low of a stranger", "low of the pool"}
		if !slices.Equal(order, want) {
			t.Errorf("got %v, want %v", order, want)
		}
	})
}

// A task that waits for tasks of low priority lends them its permit: strangers that wait do
// not hold it up.
func TestLowPriorityInheritsByLending(t *testing.T) {
	onBoth(t, 1, func(t *testing.T, e entryPoint, opt stint.Option, _ func(int)) {
		strangers := stint.NewGroup(t.Context(), opt)
		equal(t, "error", stint.Each(t.Context(), indexes(1), func(ctx context.Context, _ int) error {
			for range 10 {
				strangers.Go(sleep(time.Second))
			}
			return e.run(ctx, 3, sleeps(time.Millisecond), opt, stint.LowPriority())
		}, opt), nil)
		equal(t, "time", sinceBubble(), 3*time.Millisecond)
		equal(t, "error of the strangers", strangers.Wait(), nil)
		equal(t, "time of all", sinceBubble(), 3*time.Millisecond+10*time.Second)
	})
}

// Tasks of low priority that wait are demand: they raise an adaptive limit as others do, in the
// same time. Which tasks of those that end at one moment are counted first is up to the
// scheduler, and may delay a round by one.
func TestLowPriorityRaisesTheLimit(t *testing.T) {
	onlySearches(t)
	for _, e := range searching() {
		plain, low := raisedTo64(t, e), raisedTo64(t, e, stint.LowPriority())
		if plain == 0 || low == 0 || (low-plain).Abs() > 10*time.Millisecond {
			t.Errorf("%s: the limit rises within %v, with LowPriority within %v", e.name, plain, low)
		}
	}
}

// raisedTo64 returns after what time the limit of 128 concurrent calls is the maximum, 64.
func raisedTo64(t *testing.T, e entryPoint, opts ...stint.Option) time.Duration {
	const most = 64
	var took atomic.Int64
	synctest.Test(t, func(t *testing.T) {
		defer noneLeft(t)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		l := stint.Auto(1, most)
		task := func(context.Context, int) error {
			if l.Current() == most && took.CompareAndSwap(0, int64(sinceBubble())) {
				cancel()
			}
			time.Sleep(10 * time.Millisecond)
			return nil
		}
		var callers sync.WaitGroup
		for range 2 * most {
			callers.Go(func() { e.run(ctx, 100, task, append(opts, l)...) })
		}
		callers.Wait()
	})
	return time.Duration(took.Load())
}
