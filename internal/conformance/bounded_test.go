package conformance_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stint-go/stint"
)

func TestBounded(t *testing.T) {
	ctx := context.Background()
	for _, limit := range []int{1, 2, 5} {
		t.Run(fmt.Sprint("limit=", limit), func(t *testing.T) {
			everywhere(t, limit, func(t *testing.T, run run) {
				var g gauge
				start := time.Now()
				if err := run(ctx, 4*limit, func(context.Context, int) error { g.Hold(time.Second); return nil }); err != nil {
					t.Error(err)
				}
				g.Is(t, 0, limit, 4*limit)
				took(t, start, 4*time.Second)
			})
		})
	}
	t.Run("Pool.Go", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			p := stint.NewPool(stint.Limit(3))
			var g gauge
			start := time.Now()
			for range 12 {
				p.Go(func(context.Context) { g.Hold(time.Second) })
			}
			p.Close()
			g.Is(t, 0, 3, 12)
			took(t, start, 4*time.Second)
		})
	})
	t.Run("shared", func(t *testing.T) { // all entry points and a pool at once under one limit
		synctest.Test(t, func(t *testing.T) {
			l := stint.Limit(3)
			p := stint.NewPool(l)
			var g gauge
			var wg sync.WaitGroup
			start := time.Now()
			for _, e := range entryPoints {
				wg.Go(func() {
					if err := e.run(ctx, 6, func(context.Context, int) error { g.Hold(time.Second); return nil }, l); err != nil {
						t.Error(e.name, err)
					}
				})
			}
			for range 6 {
				p.Go(func(context.Context) { g.Hold(time.Second) })
			}
			wg.Wait()
			p.Close()
			g.Is(t, 0, 3, 6*len(entryPoints)+6)
			took(t, start, time.Duration(2*len(entryPoints)+2)*time.Second)
			equal(t, "the limiter at the end", usage(l), [3]int{3})
		})
	})
	t.Run("changed", func(t *testing.T) {
		for _, e := range entryPoints {
			t.Run(e.name, func(t *testing.T) {
				both(t, 2, func(t *testing.T, opt stint.Option, set func(int)) {
					var g gauge
					ended := make(chan struct{})
					go func() {
						defer close(ended)
						e.run(ctx, 40, func(context.Context, int) error { g.Hold(time.Second); return nil }, opt)
					}()
					at := func(when float64, want int) {
						time.Sleep(time.Duration(when*float64(time.Second)) - sinceBubble())
						g.Runs(t, want)
					}
					at(0.5, 2)
					at(3.25, 2)
					set(5) // three more begin at once
					at(3.26, 5)
					at(5.75, 5)
					set(1)      // none begins while others run: two end at 6, three at 6.25
					at(6.1, 3)  // 5 - 2
					at(6.26, 1) // one begins
					at(9.75, 1)
					set(2)
					at(9.76, 2)
					<-ended
					g.Is(t, 0, 5, 40)
				})
			})
		}
	})
	t.Run("panics and Goexit", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var caught atomic.Int64
			p := stint.NewPool(stint.Limit(3), stint.OnPanic(func(*stint.PanicError) { caught.Add(1) }))
			var g gauge
			start := time.Now()
			for i := range 30 {
				p.Go(func(context.Context) {
					g.Hold(time.Second)
					switch i % 3 {
					case 0:
						panic(i)
					case 1:
						runtime.Goexit()
					}
				})
			}
			p.Close()
			g.Is(t, 0, 3, 30)
			took(t, start, 10*time.Second)
			equal(t, "panics caught", caught.Load(), 10)
		})
	})
	t.Run("without a bubble", func(t *testing.T) { // real time, real processors: no bound on how long
		l := stint.Limit(3)
		p := stint.NewPool(l, stint.Queue(5))
		var g gauge
		var wg sync.WaitGroup
		task := func(context.Context, int) error { g.Enter(); runtime.Gosched(); g.Leave(); return nil }
		stop := make(chan struct{})
		changed := make(chan struct{})
		go func() {
			defer close(changed)
			for n := 1; ; n = n%3 + 1 { // never more than 3
				select {
				case <-stop:
					return
				default:
					l.Set(n)
					runtime.Gosched()
				}
			}
		}()
		for _, e := range entryPoints {
			wg.Go(func() { e.run(ctx, 300, task, l) })
			wg.Go(func() { e.run(ctx, 300, task, p) })
		}
		wg.Wait()
		close(stop)
		<-changed
		p.Close()
		if g.Max() > 3 || g.Now() != 0 || g.Total() != 600*len(entryPoints) {
			t.Errorf("at most %d, now %d, in all %d; want 3 at most, 0, %d", g.Max(), g.Now(), g.Total(), 600*len(entryPoints))
		}
	})
}

// 26: after Set(k) has returned no task starts while k run, also when workers are idle.
// Fails: ants v2.12.1 (10 at once after Tune(1)).
func TestSetDownIsExact(t *testing.T) {
	for _, e := range entryPoints {
		t.Run(e.name, func(t *testing.T) {
			both(t, 8, func(t *testing.T, opt stint.Option, set func(int)) {
				var g gauge
				gate := make(chan struct{})
				ended := make(chan struct{})
				go func() {
					defer close(ended)
					e.run(context.Background(), 40, func(context.Context, int) error {
						g.Enter()
						defer g.Leave()
						<-gate // no time passes
						return nil
					}, opt)
				}()
				g.Runs(t, 8)
				set(3)
				for want := 7; want > 3; want-- {
					gate <- struct{}{}
					g.Runs(t, want)
				}
				for range 10 {
					gate <- struct{}{}
					g.Runs(t, 3)
				}
				set(1)
				gate <- struct{}{}
				g.Runs(t, 2)
				gate <- struct{}{}
				g.Runs(t, 1)
				gate <- struct{}{}
				g.Runs(t, 1)
				close(gate)
				<-ended
				g.Is(t, 0, 8, 40)
			})
		})
	}
	t.Run("idle workers", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			p := stint.NewPool(stint.Limit(10))
			for range 10 {
				p.Go(func(context.Context) { time.Sleep(time.Millisecond) })
			}
			p.Idle(context.Background())
			synctest.Wait()
			equal(t, "idle workers", p.Stats().Idle, 10)
			p.SetLimit(1)
			var g gauge
			for range 10 {
				p.Go(func(context.Context) { g.Hold(time.Millisecond) })
			}
			p.Close()
			g.Is(t, 0, 1, 10)
		})
	})
}

// 27: after Set(k) k tasks run at once, and waiting submitters continue. Fails: ants
// v2.12.1 (reading: signals without the lock).
func TestSetUpWakesAll(t *testing.T) {
	for _, e := range entryPoints {
		t.Run(e.name, func(t *testing.T) {
			both(t, 1, func(t *testing.T, opt stint.Option, set func(int)) {
				var g gauge
				ended := make(chan struct{})
				go func() {
					defer close(ended)
					e.run(context.Background(), 20, func(context.Context, int) error { g.Hold(time.Hour); return nil }, opt)
				}()
				g.Runs(t, 1)
				set(5)
				g.Runs(t, 5)
				set(12)
				g.Runs(t, 12)
				<-ended
				g.Is(t, 0, 12, 20)
				equal(t, "time passed", sinceBubble(), 2*time.Hour)
			})
		})
	}
	for _, e := range searching()[3:] {
		t.Run(e.name+"/Queue(0)", func(t *testing.T) { // tasks that wait for each other; no task is queued
			both(t, 1, func(t *testing.T, opt stint.Option, set func(int)) {
				var g gauge
				ended := make(chan struct{})
				go func() {
					defer close(ended)
					e.run(context.Background(), 20, func(context.Context, int) error { g.Hold(time.Hour); return nil }, opt, stint.Queue(0))
				}()
				g.Runs(t, 1)
				set(4)
				g.Runs(t, 4)
				set(12)
				g.Runs(t, 12)
				<-ended
				g.Is(t, 0, 12, 20)
				equal(t, "time passed", sinceBubble(), 2*time.Hour)
			})
		})
		t.Run(e.name+"/Auto", func(t *testing.T) { // another call raises the limit
			synctest.Test(t, func(t *testing.T) {
				ctx, l := context.Background(), stint.Auto(1, 100)
				n := int32(l.Current() + 2)
				all := make(chan struct{})
				var started atomic.Int32
				ended := make(chan error)
				go func() {
					ended <- e.run(ctx, int(n), func(context.Context, int) error {
						if started.Add(1) == n {
							close(all)
						}
						<-all
						return nil
					}, l, stint.Queue(0))
				}()
				synctest.Wait()
				err := stint.Range(ctx, 1000, func(context.Context, int) error { time.Sleep(time.Second); return nil }, l)
				equal(t, "errors", [2]error{err, <-ended}, [2]error{})
			})
		})
	}
	t.Run("submitters", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			p := stint.NewPool(stint.Limit(1), stint.Queue(0))
			var wg sync.WaitGroup
			for range 10 {
				wg.Go(func() { p.Go(func(context.Context) { time.Sleep(time.Hour) }) })
			}
			synctest.Wait()
			equal(t, "waiting", p.Stats().Waiting, 9)
			p.SetLimit(10)
			wg.Wait()
			equal(t, "time passed", sinceBubble(), 0)
			p.Close()
		})
	})
}

// 25: the limit holds under submitters, panics, Goexit and changes at once, and
// nothing is lost. Fails: ants before #376, gopool (PR #231).
func TestLimitHoldsUnderEverything(t *testing.T) {
	const most = 4
	p := stint.NewPool(stint.Limit(most), stint.Queue(7), stint.OnPanic(func(*stint.PanicError) {}))
	var g gauge
	var accepted atomic.Int64
	var wg sync.WaitGroup
	stop := make(chan struct{})
	var setter sync.WaitGroup
	setter.Go(func() {
		for n := 1; ; n = n%most + 1 {
			select {
			case <-stop:
				return
			default:
				p.SetLimit(n)
				runtime.Gosched()
			}
		}
	})
	for submitter := range 8 {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(uint64(submitter), 1))
			for range 500 {
				end := r.IntN(4)
				f := func(context.Context) {
					g.Enter()
					defer g.Leave()
					switch end {
					case 0:
						panic("boom")
					case 1:
						runtime.Goexit()
					case 2:
						runtime.Gosched()
					}
				}
				ok := false
				switch r.IntN(3) {
				case 0:
					ok = p.Go(f) == nil
				case 1:
					ok = p.TryGo(f)
				case 2:
					ctx, cancel := context.WithCancel(context.Background())
					go cancel()
					ok = p.GoContext(ctx, f) == nil
				}
				if ok {
					accepted.Add(1)
				}
			}
		})
	}
	wg.Wait()
	close(stop)
	setter.Wait()
	p.Close()
	if g.Max() > most || g.Now() != 0 || int64(g.Total()) != accepted.Load() {
		t.Errorf("at most %d, now %d, in all %d; want at most %d, 0, %d", g.Max(), g.Now(), g.Total(), most, accepted.Load())
	}
	equal(t, "completed", p.Stats().Completed, uint64(accepted.Load()))
}

// 30: statistics are right at every instant: each accepted task is counted once.
// Fails: ants v2.12.1 (Free() of -9; Running() counts idle workers).
func TestStatsAreExact(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bg := context.Background()
		p := stint.NewPool(stint.Limit(2), stint.Queue(3), stint.Name("exact"))
		is := func(want stint.PoolStats) {
			t.Helper()
			synctest.Wait()
			want.Name = "exact"
			equal(t, "stats", p.Stats(), want)
		}
		is(stint.PoolStats{Limit: 2})
		task := func(context.Context) { time.Sleep(time.Second) }
		p.Go(task)
		is(stint.PoolStats{Limit: 2, Running: 1, Workers: 1})
		for range 4 {
			p.Go(task)
		}
		is(stint.PoolStats{Limit: 2, Running: 2, Queued: 3, Workers: 2})
		go p.Go(task)
		is(stint.PoolStats{Limit: 2, Running: 2, Queued: 3, Waiting: 1, Workers: 2})
		time.Sleep(time.Second)
		is(stint.PoolStats{Limit: 2, Running: 2, Queued: 2, Workers: 2, Completed: 2})
		time.Sleep(time.Second)
		is(stint.PoolStats{Limit: 2, Running: 2, Workers: 2, Completed: 4})
		time.Sleep(time.Second)
		is(stint.PoolStats{Limit: 2, Workers: 2, Idle: 2, Completed: 6})

		ctx, cancel := context.WithCancel(bg) // a group's tasks count as the pool's
		g := stint.NewGroup(ctx, p)
		for range 5 {
			g.Go(sleep(time.Second))
		}
		is(stint.PoolStats{Limit: 2, Running: 2, Queued: 3, Workers: 2, Completed: 6})
		cancel()
		is(stint.PoolStats{Limit: 2, Running: 2, Workers: 2, Completed: 6, Dropped: 3})
		g.Wait()
		is(stint.PoolStats{Limit: 2, Workers: 2, Idle: 2, Completed: 8, Dropped: 3})
		time.Sleep(time.Second)
		is(stint.PoolStats{Limit: 2, Completed: 8, Dropped: 3})
		p.Close()
		is(stint.PoolStats{Limit: 2, Completed: 8, Dropped: 3})
	})
	t.Run("without a bubble", func(t *testing.T) {
		p := stint.NewPool(stint.Limit(3), stint.Queue(5))
		var before, after atomic.Uint64 // calls of Go begun, and ended
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				for range 2000 {
					before.Add(1)
					p.Go(func(context.Context) {})
					after.Add(1)
				}
			})
		}
		ended := make(chan struct{})
		go func() { wg.Wait(); close(ended) }()
		for {
			least := after.Load()
			s := p.Stats()
			most := before.Load()
			sum := uint64(s.Queued+s.Running) + s.Completed + s.Dropped
			if sum < least || sum > most || s.Running > 3 || s.Running > s.Workers || s.Idle > s.Workers || s.Idle < 0 {
				t.Fatalf("%+v, with %d to %d accepted", s, least, most)
			}
			select {
			case <-ended:
			default:
				continue
			}
			break
		}
		p.Close()
		equal(t, "completed", p.Stats().Completed, 8000)
	})
}

// 31: a limit is shared when the Limiter is, and not by accident: a call with the options of
// another call has a limit of its own. Fails: conc v0.3.0.
func TestLimitsAreNotSharedByAccident(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		opts := []stint.Option{stint.KeepGoing(), within(2, 2)}
		var g gauge
		var wg sync.WaitGroup
		for range 3 {
			wg.Go(func() {
				stint.Range(context.Background(), 4, func(context.Context, int) error { g.Hold(time.Second); return nil }, opts...)
			})
		}
		wg.Wait()
		g.Is(t, 0, 6, 12)
		equal(t, "time passed", sinceBubble(), 2*time.Second)
	})
}

// Without a queue, a task that TryGo has accepted is running: nothing drops it later.
func TestTryGoWithoutAQueueHasBegun(t *testing.T) {
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	for name, limiter := range map[string]func() *stint.Limiter{
		"Limit": func() *stint.Limiter { return stint.Limit(2) },
		"Auto":  func() *stint.Limiter { return stint.Auto(2, 2) },
	} {
		t.Run(name, func(t *testing.T) {
			for range 100 { // before the worker has a processor, mostly
				synctest.Test(t, func(t *testing.T) {
					ran := 0
					p := stint.NewPool(limiter(), stint.Queue(0))
					equal(t, "Pool.TryGo", p.TryGo(func(context.Context) { time.Sleep(time.Second); ran++ }), true)
					s := p.Stats()
					equal(t, "running, queued", [2]int{s.Running, s.Queued}, [2]int{1, 0})
					dropped, _ := p.Shutdown(ended)
					equal(t, "dropped by Shutdown", dropped, 0)
					equal(t, "tasks that ran", ran, 1)
					s = p.Stats()
					equal(t, "completed, dropped", [2]uint64{s.Completed, s.Dropped}, [2]uint64{1, 0})

					pool := stint.NewPool(limiter())
					defer pool.Close()
					for i, opt := range []stint.Option{limiter(), pool} {
						ctx, cancel := context.WithCancel(context.Background())
						g := stint.NewGroup(ctx, opt, stint.Queue(0))
						equal(t, "Group.TryGo", g.TryGo(func(context.Context) error { ran++; return nil }), true)
						cancel()
						equal(t, "error", g.Wait(), context.Canceled)
						equal(t, "tasks that ran", ran, 2+i)
					}
				})
			}
		})
	}
}

// Tasks are numbered in the order in which they are accepted, whether they go to a worker at
// once or through a queue.
func TestNumbersWithoutAQueue(t *testing.T) {
	for seed := range 200 {
		synctest.Test(t, func(t *testing.T) {
			limit := 1 + seed%4
			r := stint.NewResults[int](context.Background(), stint.Limit(limit), stint.Queue(0))
			g := stint.NewGroup(context.Background(), stint.Limit(limit), stint.Queue(0), stint.KeepGoing())
			var want []int
			for i, rng := 0, rand.New(rand.NewPCG(0, uint64(seed))); i < 20; i++ {
				value := func(context.Context) (int, error) { time.Sleep(time.Duration(i%3) * time.Second); return i, nil }
				fail := func(context.Context) error { return &numbered{i} }
				if rng.IntN(2) == 0 {
					if !r.TryGo(value) {
						continue
					}
					for !g.TryGo(fail) {
						synctest.Wait()
					}
				} else {
					r.Go(value)
					g.Go(fail)
				}
				want = append(want, i)
			}
			got, err := r.Wait()
			equal(t, "error", err, nil)
			if !slices.Equal(got, want) {
				t.Errorf("seed %d: got %v, want %v", seed, got, want)
			}
			errs := members(g.Wait())
			equal(t, "errors", len(errs), len(want))
			for i, err := range errs {
				item := err.(*stint.ItemError)
				equal(t, "index", item.Index, i)
				equal(t, "error", item.Err.(*numbered).i, want[i])
			}
		})
	}
}

// numbered is the error of a task with a number.
type numbered struct{ i int }

func (*numbered) Error() string { return "numbered" }

// The end of Shutdown's context cancels a task that TryGo has given to a worker, though the
// task was never in a queue.
func TestShutdownCancelsWhatHasBegun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := stint.NewPool(stint.Limit(1))
		g := stint.NewGroup(context.Background(), p, stint.Queue(0))
		equal(t, "TryGo", g.TryGo(func(ctx context.Context) error { <-ctx.Done(); return nil }), true)
		gone, cancel := context.WithCancel(context.Background())
		cancel()
		p.Shutdown(gone)
		equal(t, "error", g.Wait(), stint.ErrClosed)
	})
}

// Limits and queues may be so large that their sum is not an int: everything runs.
func TestLargestLimitsAndQueues(t *testing.T) {
	for _, limit := range []int{1 << 30, math.MaxInt / 2, math.MaxInt/2 + 1, math.MaxInt - 1, math.MaxInt} {
		everywhere(t, limit, func(t *testing.T, run run) {
			for _, opts := range [][]stint.Option{nil, {stint.Queue(0)}, {stint.Queue(1)}, {stint.Queue(math.MaxInt - 1)}, {stint.Queue(math.MaxInt)}} {
				if opts != nil && !takesQueue(t) {
					continue
				}
				var g gauge
				err := run(context.Background(), 100, func(context.Context, int) error { g.Hold(time.Second); return nil }, opts...)
				equal(t, "error", err, nil)
				g.Is(t, 0, g.Max(), 100)
			}
		})
	}
	both(t, 1, func(t *testing.T, opt stint.Option, set func(int)) { // they are made so large while tasks run
		for _, e := range entryPoints {
			set(1)
			var g gauge
			err := e.run(context.Background(), 10, func(_ context.Context, i int) error {
				if i == 0 {
					set(math.MaxInt)
				}
				g.Hold(time.Second)
				return nil
			}, opt)
			equal(t, e.name+": error", err, nil)
			equal(t, e.name+": tasks", g.Total(), 10)
		}
	})
}

// takesQueue reports whether the entry point that the test is named after takes the
// option Queue.
func takesQueue(t *testing.T) bool {
	return !slices.ContainsFunc([]string{"/Each/", "/Map/", "/Range/", "/First/"}, func(name string) bool {
		return strings.Contains(t.Name(), name)
	})
}

// Under Queue(0) a task is accepted only when it can start at once, also while workers
// start for other tasks.
func TestQueueOfNone(t *testing.T) {
	for range 20 {
		synctest.Test(t, func(t *testing.T) {
			bg := context.Background()
			p := stint.NewPool(stint.Limit(1), stint.Queue(0))
			defer p.Close()
			g := stint.NewGroup(bg, p, stint.Queue(0))
			equal(t, "Pool.TryGo", p.TryGo(func(context.Context) { time.Sleep(time.Hour) }), true)
			equal(t, "Pool.TryGo while one runs", p.TryGo(func(context.Context) {}), false)
			equal(t, "Group.TryGo while one runs", g.TryGo(sleep(0)), false)
			start := time.Now()
			equal(t, "Group.Go", g.Go(sleep(0)), true)
			took(t, start, time.Hour)
			g.Wait()
		})
	}
	t.Run("many groups", func(t *testing.T) { // each has its own room, and no more
		synctest.Test(t, func(t *testing.T) {
			p := stint.NewPool(stint.Limit(1), stint.Queue(0))
			defer p.Close()
			p.TryGo(func(context.Context) { time.Sleep(time.Hour) })
			for range 10 {
				g := stint.NewGroup(context.Background(), p, stint.Queue(2))
				defer g.Wait()
				n := 0
				for g.TryGo(sleep(0)) {
					n++
				}
				equal(t, "tasks accepted", n, 2)
			}
		})
	})
}

// As many tasks as the limit and the queue say are accepted while none has ended.
func TestLimitAndQueueAreFull(t *testing.T) {
	for _, room := range []int{0, 4, 63, 64, 256} {
		both(t, 3, func(t *testing.T, opt stint.Option, _ func(int)) {
			g := stint.NewGroup(context.Background(), opt, stint.Queue(room))
			gate := make(chan struct{})
			for range 3 + room {
				g.Go(func(context.Context) error { <-gate; return nil })
			}
			equal(t, "one more", g.TryGo(func(context.Context) error { return nil }), false)
			close(gate)
			equal(t, "error", g.Wait(), nil)
		})
	}
}

// Once the limit is above GOMAXPROCS no item waits behind another, though several were in
// one batch, whichever of them raised the limit. In a bubble, where no time passes, there
// are no batches.
func TestRaisedLimitFreesItems(t *testing.T) {
	const n = 5000
	for at := n / 2; at < n/2+150; at++ {
		l := stint.Limit(1)
		raisedAt(t, n, at, l, l.Set)
		p := stint.NewPool(stint.Limit(1))
		raisedAt(t, n, at, p, p.SetLimit)
		p.Close()
	}
}

// raisedAt runs n items of which one raises the limit, and the next waits for all
// others.
func raisedAt(t *testing.T, n, at int, opt stint.Option, set func(int)) {
	t.Helper()
	var left atomic.Int32
	left.Store(int32(n - 1))
	all := make(chan struct{})
	err := stint.Range(context.Background(), n, func(_ context.Context, i int) error {
		switch i {
		case at:
			set(runtime.GOMAXPROCS(0) + 2)
		case at + 1:
			<-all
			return nil
		}
		if left.Add(-1) == 0 {
			close(all)
		}
		return nil
	}, opt)
	equal(t, "error", err, nil)
	equal(t, "items left", left.Load(), 0)
}
