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
	// Every task blocks and nothing is consumed: memory never holds more items than those
	// accepted by then.
	for _, queue := range []int{-1, 0, 1, 5, 100} {
		t.Run(fmt.Sprint("queue=", queue), func(t *testing.T) {
			both(t, 3, func(t *testing.T, opt stint.Option, _ func(int)) { pullsNoMore(t, queue, opt) })
		})
	}
	t.Run("Go", func(t *testing.T) {
		both(t, 3, func(t *testing.T, opt stint.Option, _ func(int)) {
			ctx, cancel := context.WithTimeout(bg, time.Second)
			defer cancel()
			g := stint.NewGroup(ctx, opt, stint.Queue(5))
			n := 0
			for g.Go(func(ctx context.Context) error { <-ctx.Done(); return nil }) {
				n++
			}
			equal(t, "tasks accepted", n, 3+5)
			g.Wait()
		})
	})
	bubble(t, "default queue", func(t *testing.T) {
		p := stint.NewPool(stint.Limit(3))
		n := 0
		for p.TryGo(func(context.Context) { time.Sleep(time.Second) }) {
			n++
		}
		equal(t, "tasks accepted at once", n, 1024+3)
		synctest.Wait()
		equal(t, "one more later", p.TryGo(func(context.Context) {}), false)
		p.Close()
	})
	t.Run("ended tasks", TestEndedTasksAreNotKept)
	t.Run("contended limiter", TestContendedLoopsStaySmall)
}

// pullsNoMore has the tasks of sequences block, or their results not be consumed, at a limit of 3: as many
// values are pulled as the limit and the queue say.
func pullsNoMore(t *testing.T, queue int, opts ...stint.Option) {
	room := 3
	if queue >= 0 {
		opts, room = append(opts, stint.Queue(queue)), queue
	}
	blocked := func(ctx context.Context, _ int) error { <-ctx.Done(); return ctx.Err() }
	n := 0
	pulled := func(yield func(int) bool) {
		for n = 0; yield(n); n++ {
		}
	}
	ctx, cancel := context.WithCancel(bg)
	time.AfterFunc(time.Second, cancel)
	call := begin(func() error { return stint.EachSeq(ctx, pulled, blocked, opts...) })
	time.Sleep(time.Second / 2) // a submitter that waits for a long queue is let in after a moment
	synctest.Wait()
	equal(t, "values pulled by EachSeq", n+1, 3+room+1)
	equal(t, "error", <-call, context.Canceled)
	for _, f := range []body{blocked, nothing} {
		first := func(ctx context.Context, i int) (int, error) {
			if i == 0 {
				return 0, nil
			}
			return i, f(ctx, i)
		}
		for range stint.MapSeq(bg, pulled, first, opts...) {
			time.Sleep(time.Second) // the consumer has the first result and takes no more
			synctest.Wait()
			equal(t, "values pulled by MapSeq", n+1, 1+3+room)
			break
		}
	}
}

// memory returns what f allocates, and what of it is still reachable after it. It skips the test
// under the race detector, which keeps things of its own.
func memory(t *testing.T, f func()) (allocated, kept int) {
	if race.Enabled {
		t.Skip("the race detector keeps memory")
	}
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

// 47: a task that is ready costs no allocation, nor do names and counts. Fails: pond v2.7.1 (6), conc
// v0.3.0 (1 with errors), errgroup v0.24.0 (1).
func TestSubmittingAllocatesNothing(t *testing.T) {
	const n = 20_000
	var wg sync.WaitGroup
	plain := func(context.Context) { wg.Done() }
	task := func(context.Context) error { wg.Done(); return nil }
	room := stint.Queue(n) // a submitter that has to wait allocates, once for many tasks
	p := stint.NewPool(stint.Limit(2), room, stint.Name("counted"))
	defer p.Close()
	g := stint.NewGroup(bg, stint.Limit(2), room)
	defer g.Wait()
	onPool := stint.NewGroup(bg, p, room)
	defer onPool.Wait()
	for name, submit := range map[string]func(){
		"Pool.Go":            func() { p.Go(plain) },
		"Pool.GoContext":     func() { p.GoContext(bg, plain) },
		"Group.Go":           func() { g.Go(task) },
		"Group.Go on a pool": func() { onPool.Go(task) },
	} {
		allocs := testing.AllocsPerRun(3, func() {
			wg.Add(n)
			for range n {
				submit()
			}
			wg.Wait()
		})
		if each := allocs / n; each > 0.01 {
			t.Errorf("%s: %.3f allocations a task", name, each)
		}
	}
	equal(t, "allocations a Stats", testing.AllocsPerRun(100, func() { p.Stats() }), 0)
}

// 47: the bytes of Results are linear in the number of tasks: twice as many tasks
// cost no more each. Fails: conc at its main branch (10 to 33 KB a task).
func TestResultsAreLinear(t *testing.T) {
	each := func(n int) int {
		allocated, _ := memory(t, func() {
			r := stint.NewResults[int](bg, stint.Limit(2))
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
	p := stint.NewPool()
	defer p.Close()
	const n = 1000
	most := 2048
	if race.Enabled {
		most += 256 // for what the detector is told
	}
	groups := make([]*stint.Group, 0, n)
	for _, opts := range [][]stint.Option{{}, {p}} {
		allocated, _ := memory(t, func() {
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
	for name, use := range map[string]func(g *stint.Group){
		"done":   func(g *stint.Group) { g.Go(sleep(0)) },
		"failed": func(g *stint.Group) { g.Go(func(context.Context) error { return errBoom }) },
		"empty":  func(*stint.Group) {},
	} {
		t.Run(name, func(t *testing.T) { groupsAreNotKept(t, use) })
	}
}

func groupsAreNotKept(t *testing.T, use func(*stint.Group)) {
	ctx, cancel := context.WithCancel(bg)
	defer cancel()
	p, l := stint.NewPool(stint.Limit(2)), stint.Limit(2)
	defer p.Close()
	_, kept := memory(t, func() {
		for i := range 5_000 {
			g := stint.NewGroup(ctx, []stint.Option{p, l}[i%2])
			use(g)
			g.Wait()
		}
	})
	if kept > 100_000 { // 20 bytes a group
		t.Errorf("%d bytes are kept of 5,000 groups", kept)
	}
}

// A thing is a value that a task holds.
type thing struct{ _ [1 << 10]byte }

// A tracker counts the things that are freed.
type tracker struct{ freed atomic.Int64 }

func (x *tracker) thing() *thing {
	v := new(thing)
	runtime.AddCleanup(v, func(x *tracker) { x.freed.Add(1) }, x)
	return v
}

func (x *tracker) things(n int) []*thing {
	all := make([]*thing, n)
	for i := range all {
		all[i] = x.thing()
	}
	return all
}

// collected fails the test unless n things were freed since the last call. Cleanups run on a
// goroutine of their own: it is given the time it needs.
func (x *tracker) collected(t *testing.T, n int64) {
	t.Helper()
	for range 1000 {
		runtime.GC()
		for range 100 {
			runtime.Gosched()
		}
		if x.freed.Load() == n {
			break
		}
	}
	equal(t, "things freed", x.freed.Swap(0), n)
}

// holding returns a task that holds a thing, and then ends with err.
func (x *tracker) holding(err error) func(context.Context) error {
	v := x.thing()
	return func(context.Context) error { runtime.KeepAlive(v); return err }
}

// 37: tasks that have ended are not kept reachable by the queue, by a parked worker, or by a
// call that is still running. Fails: pond before v2.3 (#110).
func TestEndedTasksAreNotKept(t *testing.T) {
	for name, test := range map[string]func(*testing.T){
		"Pool": poolKeepsNothing, "Group": groupKeepsNothing, "dropped": nothingOfTheDroppedIsKept, "sequences": sequencesKeepNothing,
	} {
		t.Run(name, test)
	}
	bubble(t, "kept context", keptContextKeepsNothing)
	bubble(t, "context of a group", contextOfAGroupIsNotKept)
}

func poolKeepsNothing(t *testing.T) {
	var x tracker
	p := stint.NewPool(stint.Limit(2))
	defer p.Close()
	for range 100 {
		task := x.holding(nil)
		p.Go(func(ctx context.Context) { task(ctx) })
	}
	p.Idle(bg)
	x.collected(t, 100)
}

func groupKeepsNothing(t *testing.T) {
	var x tracker
	p := stint.NewPool(stint.Limit(2))
	defer p.Close()
	for _, opt := range []stint.Option{p, stint.Limit(2)} {
		g := stint.NewGroup(bg, opt)
		var wg sync.WaitGroup
		wg.Add(100)
		for range 100 {
			task := x.holding(nil)
			g.Go(func(ctx context.Context) error { defer wg.Done(); return task(ctx) })
		}
		wg.Wait()
		release := make(chan struct{}) // the group goes on: two more tasks, which wait
		g.Go(func(context.Context) error { <-release; return nil })
		g.Go(func(context.Context) error { <-release; return nil })
		x.collected(t, 100)
		close(release)
		g.Wait()
	}
}

// nothingOfTheDroppedIsKept drops tasks at several positions of the queue, and keeps their group or pool.
func nothingOfTheDroppedIsKept(t *testing.T) {
	var x tracker
	for range 5 {
		for _, opt := range []stint.Option{stint.Limit(1), within(1, 1)} {
			g := stint.NewGroup(bg, opt)
			for range 100 {
				g.Go(x.holding(errBoom))
			}
			g.Wait()
			x.collected(t, 100)
			runtime.KeepAlive(g)

			p := stint.NewPool(opt)
			for range 100 {
				task := x.holding(nil)
				p.Go(func(ctx context.Context) { task(ctx) })
			}
			p.Shutdown(ended())
			x.collected(t, 100)
			runtime.KeepAlive(p)
		}
	}
	p := stint.NewPool(stint.Limit(1))
	defer p.Close()
	release := make(chan struct{})
	p.Go(func(context.Context) { <-release })
	ctx, cancel := context.WithCancel(bg)
	g := stint.NewGroup(ctx, p)
	for range 100 {
		g.Go(x.holding(nil))
	}
	cancel()
	g.Wait()
	x.collected(t, 100)
	close(release)
}

// sequencesKeepNothing of values and results that were yielded.
func sequencesKeepNothing(t *testing.T) {
	var x tracker
	values := func(yield func(*thing) bool) {
		for range 100 {
			if !yield(x.thing()) {
				return
			}
		}
	}
	for range stint.MapSeq(bg, values, func(_ context.Context, v *thing) (*thing, error) { return v, nil }) {
	}
	x.collected(t, 100)
	stint.EachSeq(bg, values, func(context.Context, *thing) error { return nil })
	x.collected(t, 100)
}

// keptContextKeepsNothing runs in a bubble, where a stopped timer is not due.
func keptContextKeepsNothing(t *testing.T) {
	for range 100 { // so that the runtime keeps stopped timers
		defer time.AfterFunc(time.Hour, func() {}).Stop()
	}
	var x tracker
	var kept []context.Context
	keep := func(ctx context.Context, v *thing) (*thing, error) {
		if len(kept) < 2 { // the limit is 1
			kept = append(kept, ctx, context.WithoutCancel(ctx))
		}
		return v, nil
	}
	p := stint.NewPool(stint.Limit(1))
	defer p.Close()
	for _, opt := range []stint.Option{stint.Limit(1), p, within(1, 1)} {
		stint.Map(bg, x.things(3), keep, opt)
		x.collected(t, 3)
		runtime.KeepAlive(kept)
		for _, between := range []func(){func() {}, synctest.Wait} { // the worker parks between two tasks: a timer is to end it
			kept = nil
			r := stint.NewResults[*thing](bg, opt)
			for _, v := range x.things(3) {
				r.Go(func(ctx context.Context) (*thing, error) { return keep(ctx, v) })
				between()
			}
			r.Wait()
			x.collected(t, 3)
			runtime.KeepAlive(kept)
		}
		kept = nil
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // the default limit
	stint.Each(bg, x.things(3), func(ctx context.Context, v *thing) error { _, err := keep(ctx, v); return err })
	x.collected(t, 3)
	runtime.KeepAlive(kept)
}

// contextOfAGroupIsNotKept by a worker that is parked, or by another group's tasks. In a bubble time stands
// still meanwhile: no worker expires.
func contextOfAGroupIsNotKept(t *testing.T) {
	var x tracker
	p := stint.NewPool(stint.Limit(2))
	defer p.Close()
	for range 10 {
		for _, e := range entryPoints {
			e.run(context.WithValue(bg, chainKey{}, x.thing()), 2, sleeps(time.Second), p)
		}
	}
	synctest.Wait()
	equal(t, "parked workers", p.Stats().Idle, 2)
	x.collected(t, int64(10*len(entryPoints)))
}

// 38: a burst leaves no memory behind while the pool and the group live on.
// Fails: pond v2.7.1 (segments of 102,400 slots).
func TestQueueShrinks(t *testing.T) {
	p := stint.NewPool(stint.Limit(1), stint.Queue(1<<20))
	defer p.Close()
	g := stint.NewGroup(bg, stint.Limit(1), stint.Queue(1<<20))
	defer g.Wait()
	for name, submit := range map[string]func(f func()){
		"Pool":  func(f func()) { p.Go(func(context.Context) { f() }) },
		"Group": func(f func()) { g.Go(func(context.Context) error { f(); return nil }) },
	} {
		_, kept := memory(t, func() {
			release := make(chan struct{})
			submit(func() { <-release })
			nothing := func() {}
			for range 200_000 {
				submit(nothing)
			}
			ended := make(chan struct{})
			submit(func() { close(ended) })
			close(release)
			<-ended
		})
		if kept > 100_000 { // the queue held 5 MB
			t.Errorf("%s: %d bytes are kept after a burst of 200,000 tasks", name, kept)
		}
	}
}

// Two loops that share a limiter take turns on a constant number of goroutines, however many items
// they have. A loop waits once, and its caller gets the permit: items do not move from helper to
// helper.
func TestContendedLoopsStaySmall(t *testing.T) {
	synctest.Test(t, contendedLoopsStaySmall)
}

func contendedLoopsStaySmall(t *testing.T) {
	const n = 100
	l := stint.Limit(1)
	most := 0
	loop := func() {
		caller, elsewhere := goroutine.ID(), 0
		stint.Range(bg, n, func(context.Context, int) error { // one at a time
			if goroutine.ID() != caller {
				elsewhere++
			}
			time.Sleep(time.Second)
			most = max(most, len(goroutine.Ours()))
			return nil
		}, l)
		if elsewhere > 1 { // the spare worker of the first loop waits before the second loop, once
			t.Errorf("%d of %d items ran on helpers", elsewhere, n)
		}
	}
	var wg sync.WaitGroup
	wg.Go(loop)
	synctest.Wait()
	wg.Go(loop)
	wg.Wait()
	equal(t, "time passed", sinceBubble(), 2*n*time.Second)
	if most > 6 { // two callers, and a helper or two for each
		t.Errorf("up to %d goroutines for two loops at limit 1", most)
	}
}
