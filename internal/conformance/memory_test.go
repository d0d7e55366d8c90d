package conformance_test

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/internal/goroutine"
	"github.com/stint-go/stint/internal/race"
)

func TestMemoryIsBounded(t *testing.T) {
	bg := context.Background()
	// Every task blocks and nothing is consumed: memory never holds more items than those
	// accepted by then.
	const limit = 3
	blocked := func(ctx context.Context, _ int) error { <-ctx.Done(); return ctx.Err() }
	pulled := func(n *int) func(func(int) bool) {
		return func(yield func(int) bool) {
			for yield(*n) {
				*n++
			}
		}
	}
	for _, queue := range []int{-1, 0, 1, 5, 100} {
		t.Run(fmt.Sprint("queue=", queue), func(t *testing.T) {
			both(t, limit, func(t *testing.T, opt stint.Option, _ func(int)) {
				opts, room := []stint.Option{opt}, limit
				if queue >= 0 {
					opts, room = append(opts, stint.Queue(queue)), queue
				}
				ctx, cancel := context.WithCancel(bg)
				time.AfterFunc(time.Second, cancel)
				n := 0
				go func() {
					time.Sleep(time.Second / 2)
					synctest.Wait()
					equal(t, "values pulled by EachSeq", n+1, limit+room+1)
				}()
				equal(t, "error", stint.EachSeq(ctx, pulled(&n), blocked, opts...), context.Canceled)
			})
			both(t, limit, func(t *testing.T, opt stint.Option, _ func(int)) {
				opts, room := []stint.Option{opt}, limit
				if queue >= 0 {
					opts, room = append(opts, stint.Queue(queue)), queue
				}
				for _, f := range []body{blocked, func(context.Context, int) error { return nil }} {
					ctx, cancel := context.WithCancel(bg)
					n := 0
					for range stint.MapSeq(ctx, pulled(&n), func(ctx context.Context, i int) (int, error) {
						if i == 0 {
							return 0, nil
						}
						return i, f(ctx, i)
					}, opts...) {
						time.Sleep(time.Second) // the consumer has the first result and takes no more
						synctest.Wait()
						equal(t, "values pulled by MapSeq", n+1, 1+limit+room)
						break
					}
					cancel()
				}
			})
		})
	}
	t.Run("Go", func(t *testing.T) {
		both(t, limit, func(t *testing.T, opt stint.Option, _ func(int)) {
			ctx, cancel := context.WithTimeout(bg, time.Second)
			defer cancel()
			g := stint.NewGroup(ctx, opt, stint.Queue(5))
			n := 0
			for g.Go(func(ctx context.Context) error { <-ctx.Done(); return nil }) {
				n++
			}
			equal(t, "tasks accepted", n, limit+5)
			g.Wait()
		})
	})
	t.Run("default queue", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			p := stint.NewPool(stint.Limit(limit))
			n := 0
			for p.TryGo(func(context.Context) { time.Sleep(time.Second) }) {
				n++
			}
			equal(t, "tasks accepted at once", n, 1024+limit)
			synctest.Wait()
			equal(t, "one more later", p.TryGo(func(context.Context) {}), false)
			p.Close()
		})
	})
	t.Run("ended tasks", TestEndedTasksAreNotKept)
	t.Run("contended limiter", TestContendedLoopsStaySmall)
}

// memory returns what f allocates, and what of it is still reachable after it.
func memory(f func()) (allocated, kept int) {
	var before, after, end runtime.MemStats
	runtime.GC()
	runtime.GC() // empties what sync.Pools held
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&end)
	return int(after.TotalAlloc - before.TotalAlloc), int(end.HeapAlloc) - int(before.HeapAlloc)
}

// 47: a task that is ready costs no allocation. Fails: pond v2.7.1 (6), conc
// v0.3.0 (1 with errors), errgroup v0.24.0 (1).
func TestSubmittingAllocatesNothing(t *testing.T) {
	bg := context.Background()
	const n = 20_000
	var wg sync.WaitGroup
	plain := func(context.Context) { wg.Done() }
	task := func(context.Context) error { wg.Done(); return nil }
	room := stint.Queue(n) // a submitter that has to wait allocates, once for many tasks
	p := stint.NewPool(stint.Limit(2), room)
	defer p.Close()
	g := stint.NewGroup(bg, stint.Limit(2), room)
	defer g.Wait()
	onPool := stint.NewGroup(bg, p, room)
	defer onPool.Wait()
	for _, c := range []struct {
		name   string
		submit func()
	}{
		{"Pool.Go", func() { p.Go(plain) }},
		{"Pool.GoContext", func() { p.GoContext(bg, plain) }},
		{"Group.Go", func() { g.Go(task) }},
		{"Group.Go on a pool", func() { onPool.Go(task) }},
	} {
		allocs := testing.AllocsPerRun(3, func() {
			wg.Add(n)
			for range n {
				c.submit()
			}
			wg.Wait()
		})
		if each := allocs / n; each > 0.01 {
			t.Errorf("%s: %.3f allocations a task", c.name, each)
		}
	}
}

// 47: the bytes of Results are linear in the number of tasks: twice as many tasks
// cost no more each. Fails: conc at its main branch (10 to 33 KB a task).
func TestResultsAreLinear(t *testing.T) {
	each := func(n int) int {
		allocated, _ := memory(func() {
			r := stint.NewResults[int](context.Background(), stint.Limit(2))
			f := func(context.Context) (int, error) { return 1, nil }
			for range n {
				r.Go(f)
			}
			if v, err := r.Wait(); len(v) != n || err != nil {
				t.Error(len(v), err)
			}
		})
		return allocated / n
	}
	small, large := each(10_000), each(80_000)
	if large > 2*small+100 {
		t.Errorf("%d bytes a task for 10,000, %d for 80,000", small, large)
	}
}

// 48: a group is cheap and starts no goroutine. Fails: pond v2.7.1 (18.8 KB a
// pool or subpool).
func TestGroupIsCheap(t *testing.T) {
	bg := context.Background()
	p := stint.NewPool()
	defer p.Close()
	const n = 1000
	most := 2048
	if race.Enabled {
		most += 256 // for what the detector is told
	}
	groups := make([]*stint.Group, 0, n)
	for _, opts := range [][]stint.Option{{}, {p}} {
		allocated, _ := memory(func() {
			for range n {
				groups = append(groups, stint.NewGroup(bg, opts...))
			}
		})
		if each := allocated / n; each > most {
			t.Errorf("a group takes %d bytes", each)
		}
	}
	equal(t, "goroutines", len(goroutine.Ours()), 0)
	for _, g := range groups {
		g.Wait()
	}
}

// 18: nothing of an ended group stays reachable from its pool, its limiter or its
// parent's context. Fails: pond v2.7.1 (231 bytes a group).
func TestEndedGroupsAreNotKept(t *testing.T) {
	for _, c := range []struct {
		name string
		use  func(g *stint.Group)
	}{
		{"done", func(g *stint.Group) { g.Go(func(context.Context) error { return nil }) }},
		{"failed", func(g *stint.Group) { g.Go(func(context.Context) error { return errBoom }) }},
		{"empty", func(*stint.Group) {}},
	} {
		t.Run(c.name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			p := stint.NewPool(stint.Limit(2))
			defer p.Close()
			l := stint.Limit(2)
			_, kept := memory(func() {
				for range 10_000 {
					for _, opt := range []stint.Option{p, l} {
						g := stint.NewGroup(ctx, opt)
						c.use(g)
						g.Wait()
					}
				}
			})
			if kept > 200_000 { // 10 bytes a group
				t.Errorf("%d bytes are kept of 20,000 groups", kept)
			}
		})
	}
}

// 18: a group that is cancelled while others hold its limiter waits no longer.
func TestCancelledGroupLeavesNoWaiter(t *testing.T) {
	both(t, 1, func(t *testing.T, opt stint.Option, _ func(int)) {
		bg := context.Background()
		l, ok := opt.(*stint.Limiter)
		if !ok {
			l = stint.Limit(1)
			p := stint.NewPool(l)
			defer p.Close()
			opt = p
		}
		hold := stint.NewGroup(bg, l)
		hold.Go(sleep(time.Hour))
		synctest.Wait()
		for _, e := range entryPoints {
			ctx, cancel := context.WithTimeout(bg, time.Second)
			e.run(ctx, 5, func(context.Context, int) error { return nil }, opt)
			cancel()
			synctest.Wait()
			equal(t, e.name+": waiting for the limiter", l.Stats().Waiting, 0)
		}
		hold.Wait()
	})
}

// 37: tasks that have ended are not kept reachable by the queue, by a parked worker, or by a
// call that is still running. Fails: pond before v2.3 (#110).
func TestEndedTasksAreNotKept(t *testing.T) {
	bg := context.Background()
	type thing struct{ _ [1 << 10]byte }
	// track returns a value to be held by a task, and counts when it is freed.
	var freed atomic.Int64
	track := func() *thing {
		x := new(thing)
		runtime.AddCleanup(x, func(int) { freed.Add(1) }, 0)
		return x
	}
	// collected fails the test unless n values were freed. Cleanups run on a
	// goroutine of their own: it is given the time it needs.
	collected := func(t *testing.T, n int64) {
		t.Helper()
		for range 1000 {
			runtime.GC()
			for range 100 {
				runtime.Gosched()
			}
			if freed.Load() == n {
				break
			}
		}
		equal(t, "values freed", freed.Swap(0), n)
	}
	// keptContext runs in a bubble, where a stopped timer is not due.
	keptContext := func(t *testing.T) {
		for range 100 { // so that the runtime keeps stopped timers
			defer time.AfterFunc(time.Hour, func() {}).Stop()
		}
		var kept []context.Context
		things := func() []*thing { return []*thing{track(), track(), track()} }
		keep := func(ctx context.Context, x *thing) (*thing, error) {
			if len(kept) < cap(kept) { // the limit is 1
				kept = append(kept, ctx, context.WithoutCancel(ctx))
			}
			return x, nil
		}
		p := stint.NewPool(stint.Limit(1))
		defer p.Close()
		for _, opt := range []stint.Option{stint.Limit(1), p, within(1, 1)} {
			kept = make([]context.Context, 0, 2)
			stint.Map(bg, things(), keep, opt)
			collected(t, 3)
			runtime.KeepAlive(kept)

			for _, parks := range []bool{false, true} { // the worker, between two tasks: a timer is to end it
				kept = make([]context.Context, 0, 2)
				r := stint.NewResults[*thing](bg, opt)
				for _, x := range things() {
					r.Go(func(ctx context.Context) (*thing, error) { return keep(ctx, x) })
					if parks {
						synctest.Wait()
					}
				}
				r.Wait()
				collected(t, 3)
				runtime.KeepAlive(kept)
			}
		}
		kept = make([]context.Context, 0, 2)
		procs := runtime.GOMAXPROCS(1) // the default limit
		stint.Each(bg, things(), func(ctx context.Context, x *thing) error { _, err := keep(ctx, x); return err })
		runtime.GOMAXPROCS(procs)
		collected(t, 3)
		runtime.KeepAlive(kept)
	}
	t.Run("Pool", func(t *testing.T) {
		p := stint.NewPool(stint.Limit(2))
		defer p.Close()
		for range 100 {
			x := track()
			p.Go(func(context.Context) { runtime.KeepAlive(x) })
		}
		p.Idle(bg)
		collected(t, 100)
	})
	t.Run("Group", func(t *testing.T) {
		p := stint.NewPool(stint.Limit(2))
		defer p.Close()
		for _, opt := range []stint.Option{p, stint.Limit(2)} {
			g := stint.NewGroup(bg, opt)
			var wg sync.WaitGroup
			for range 100 {
				x := track()
				wg.Add(1)
				g.Go(func(context.Context) error { runtime.KeepAlive(x); wg.Done(); return nil })
			}
			wg.Wait()
			release := make(chan struct{}) // the group goes on: one more task, which waits
			g.Go(func(context.Context) error { <-release; return nil })
			g.Go(func(context.Context) error { <-release; return nil })
			collected(t, 100)
			close(release)
			g.Wait()
		}
	})
	t.Run("kept context", func(t *testing.T) { synctest.Test(t, keptContext) })
	t.Run("context of a group", func(t *testing.T) { // by a worker that is parked, or by another group's tasks
		synctest.Test(t, func(t *testing.T) { // where time stands still meanwhile: no worker expires
			type key struct{}
			p := stint.NewPool(stint.Limit(2))
			defer p.Close()
			for range 10 {
				for _, e := range entryPoints {
					e.run(context.WithValue(bg, key{}, track()), 2, func(context.Context, int) error {
						time.Sleep(time.Second)
						return nil
					}, p)
				}
			}
			synctest.Wait()
			equal(t, "parked workers", p.Stats().Idle, 2)
			collected(t, int64(10*len(entryPoints)))
		})
	})
	t.Run("dropped", func(t *testing.T) {
		p := stint.NewPool(stint.Limit(1))
		defer p.Close()
		release := make(chan struct{})
		p.Go(func(context.Context) { <-release })
		ctx, cancel := context.WithCancel(bg)
		g := stint.NewGroup(ctx, p)
		for range 100 {
			x := track()
			g.Go(func(context.Context) error { runtime.KeepAlive(x); return nil })
		}
		cancel()
		g.Wait()
		collected(t, 100)
		close(release)
	})
	t.Run("dropped, and their group or pool is kept", func(t *testing.T) {
		for range 5 { // tasks are dropped at other positions of the queue
			for _, opt := range []stint.Option{stint.Limit(1), within(1, 1)} {
				g := stint.NewGroup(bg, opt)
				for range 100 {
					x := track()
					g.Go(func(context.Context) error { runtime.KeepAlive(x); return errBoom })
				}
				g.Wait()
				collected(t, 100)
				runtime.KeepAlive(g)

				p := stint.NewPool(opt)
				for range 100 {
					x := track()
					p.Go(func(ctx context.Context) { runtime.KeepAlive(x) })
				}
				gone, cancel := context.WithCancel(bg)
				cancel()
				p.Shutdown(gone)
				collected(t, 100)
				runtime.KeepAlive(p)
			}
		}
	})
	t.Run("MapSeq", func(t *testing.T) { // values and results that were yielded
		n := int64(0)
		for range stint.MapSeq(bg, func(yield func(*thing) bool) {
			for range 100 {
				if !yield(track()) {
					return
				}
			}
			n = 100
		}, func(_ context.Context, x *thing) (*thing, error) { return x, nil }) {
		}
		collected(t, n)
	})
	t.Run("EachSeq", func(t *testing.T) {
		stint.EachSeq(bg, func(yield func(*thing) bool) {
			for range 100 {
				if !yield(track()) {
					return
				}
			}
		}, func(context.Context, *thing) error { return nil })
		collected(t, 100)
	})
}

// 38: a burst leaves no memory behind while the pool and the group live on.
// Fails: pond v2.7.1 (segments of 102,400 slots).
func TestQueueShrinks(t *testing.T) {
	bg := context.Background()
	p := stint.NewPool(stint.Limit(1), stint.Queue(1<<20))
	defer p.Close()
	g := stint.NewGroup(bg, stint.Limit(1), stint.Queue(1<<20))
	defer g.Wait()
	for name, c := range map[string]struct {
		submit func(f func())
	}{
		"Pool":  {func(f func()) { p.Go(func(context.Context) { f() }) }},
		"Group": {func(f func()) { g.Go(func(context.Context) error { f(); return nil }) }},
	} {
		_, kept := memory(func() {
			release := make(chan struct{})
			c.submit(func() { <-release })
			nothing := func() {}
			for range 200_000 {
				c.submit(nothing)
			}
			ended := make(chan struct{})
			c.submit(func() { close(ended) })
			close(release)
			<-ended
		})
		if kept > 100_000 { // the queue held 5 MB
			t.Errorf("%s: %d bytes are kept after a burst of 200,000 tasks", name, kept)
		}
	}
}

// 38: a million tasks through a bounded queue never hold a million closures.
func TestQueueIsBounded(t *testing.T) {
	g := stint.NewGroup(context.Background(), stint.Limit(2), stint.Queue(64))
	var alive, most, ran atomic.Int64
	for range 100_000 {
		n := alive.Add(1)
		most.Store(max(most.Load(), n))
		g.Go(func(context.Context) error { alive.Add(-1); ran.Add(1); return nil })
	}
	g.Wait()
	equal(t, "tasks run", ran.Load(), 100_000)
	if most.Load() > 64+2+1 {
		t.Errorf("up to %d tasks had been made and not begun, want at most 67", most.Load())
	}
}

// Two loops that share a limiter take turns on a constant number of goroutines,
// however many items they have.
func TestContendedLoopsStaySmall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := stint.Limit(1)
		most := 0
		var wg sync.WaitGroup
		for range 2 {
			wg.Go(func() {
				stint.Range(context.Background(), 300, func(context.Context, int) error {
					time.Sleep(time.Millisecond)
					most = max(most, len(goroutine.Ours())) // one at a time
					return nil
				}, l)
			})
		}
		wg.Wait()
		if most > 6 { // two callers, and a helper or two for each
			t.Errorf("up to %d goroutines for two loops at limit 1", most)
		}
	})
}

// A loop on a contended limiter waits once, and its caller gets the permit: items do not
// move from helper to helper.
func TestTurnsAreTheCallers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const n = 100
		l := stint.Limit(1)
		var wg sync.WaitGroup
		for range 2 {
			wg.Go(func() {
				caller, elsewhere := goroutine.ID(), 0
				stint.Range(context.Background(), n, func(context.Context, int) error {
					if goroutine.ID() != caller {
						elsewhere++ // one at a time
					}
					time.Sleep(time.Second)
					return nil
				}, l)
				if elsewhere > 1 { // the spare worker of the first loop waits before the second loop, once
					t.Errorf("%d of %d items ran on helpers", elsewhere, n)
				}
			})
			synctest.Wait()
		}
		wg.Wait()
		equal(t, "time passed", sinceBubble(), 2*n*time.Second)
	})
}

// 49: names and counts cost nothing per task. Fails: kube-scheduler's helper, where
// a metric per piece took up to a tenth of the throughput.
func TestCountingCostsNothing(t *testing.T) {
	task := func(context.Context) error { return nil }
	g := stint.NewGroup(context.Background(), stint.Name("counted"), stint.Limit(2))
	allocs := testing.AllocsPerRun(10_000, func() { g.Go(task) })
	equal(t, "error", g.Wait(), nil)
	equal(t, "allocations a named task", int(allocs), 0)

	p := stint.NewPool(stint.Name("counted"))
	p.Go(func(context.Context) {})
	equal(t, "allocations a Stats", testing.AllocsPerRun(100, func() { p.Stats() }), 0)
	p.Close()
}
