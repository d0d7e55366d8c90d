package loop

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stint-go/stint/internal/goroutine"
	"github.com/stint-go/stint/internal/limit"
	"github.com/stint-go/stint/internal/race"
	"github.com/stint-go/stint/internal/task"
	"github.com/stint-go/stint/internal/work"
)

// seed is that of the first round of TestRandom; a failure names the one to give.
var seed = flag.Uint64("stint.seed", 1, "seed of the first round of random operations")

// A bench is what a loop runs under: its own bound, a limiter that others may
// share, or an engine.
type bench struct {
	lim *limit.Limiter // nil: the loop's own
	e   *work.Engine   // nil: the loop's own goroutines
	n   int            // the bound
}

var kinds = []string{"solo", "shared", "engine"}

func newBench(kind string, n int) *bench {
	b := &bench{n: n}
	if kind != "solo" {
		b.lim = limit.New(n)
	}
	if kind == "engine" {
		b.e, _ = work.New(work.Config{Limiter: b.lim, IdleTimeout: time.Second}, work.SourceConfig{})
	}
	return b
}

// loop returns a loop that ends its context with the first failure, as callers
// outside this package do.
func (b *bench) loop(n int, body func(ctx context.Context, i int) error) *Loop {
	ctx, cancel := context.WithCancel(context.Background())
	j := &testJob{f: body, abandoned: cancel}
	j.failed = func(int, task.Outcome) bool { cancel(); return true }
	l := &Loop{N: n, Context: ctx, Parent: limit.ScopeOf(ctx), Body: j, Limit: b.n, Engine: b.e, Procs: runtime.GOMAXPROCS(0)}
	if b.e == nil {
		l.Limiter = b.lim
	}
	return l
}

// testJob is the job of a test: f for each index.
type testJob struct {
	f         func(ctx context.Context, i int) error
	failed    func(i int, o task.Outcome) (stop bool)
	abandoned func()
}

func (c *testJob) Calls(ctx context.Context, s *Batch) error {
	for i, ok := s.At, true; ok; ok = s.Begin(i) {
		if err := c.f(ctx, i); err != nil {
			return err
		}
		i++
	}
	return nil
}

func (c *testJob) Failed(i int, o task.Outcome) bool { return c.failed(i, o) }
func (c *testJob) Abandoned()                        { c.abandoned() }

// end checks that all permits are back, and that nothing of an engine is left.
func (b *bench) end(t *testing.T) {
	t.Helper()
	if b.e != nil {
		b.e.Close()
		b.e.WaitIdle(nil)
		if c := b.e.Counts(); c.Running+c.Queued+c.Blocked+c.Workers != 0 {
			t.Errorf("a closed engine has %+v", c)
		}
	}
	if b.lim == nil {
		return
	}
	_, out, waiting := b.lim.Counts()
	if out != 0 || waiting != 0 {
		t.Errorf("%d permits are out and %d wait after the end", out, waiting)
	}
}

// A gauge counts who is at work, and the most at once.
type gauge struct{ now, top atomic.Int32 }

func (g *gauge) enter() {
	for n, old := g.now.Add(1), g.top.Load(); n > old && !g.top.CompareAndSwap(old, n); old = g.top.Load() {
	}
}

func (g *gauge) leave() { g.now.Add(-1) }

func TestExactlyOnce(t *testing.T) {
	for _, kind := range kinds {
		for _, n := range []int{1, 2, 127, 128, 129, 100_000} {
			for _, limit := range []int{1, 2, 3, 7, 8, 64} {
				b := newBench(kind, limit)
				calls := make([]atomic.Int32, n)
				var g gauge
				l := b.loop(n, func(_ context.Context, i int) error {
					g.enter()
					calls[i].Add(1)
					if i%1024 == 0 {
						runtime.Gosched()
					}
					g.leave()
					return nil
				})
				if !l.Run() || !l.Complete() {
					t.Fatalf("%s, %d items, limit %d: not complete", kind, n, limit)
				}
				for i := range calls {
					if c := calls[i].Load(); c != 1 {
						t.Fatalf("%s, %d items, limit %d: item %d was called %d times", kind, n, limit, i, c)
					}
				}
				if top := int(g.top.Load()); top > limit {
					t.Errorf("%s, %d items, limit %d: %d at once", kind, n, limit, top)
				}
				b.end(t)
			}
		}
	}
}

// Work that waits gets all that the limit allows, and no more.
func TestLimitIsReached(t *testing.T) {
	for _, kind := range kinds {
		for _, n := range []int{1, 2, 3, 64} {
			t.Run(fmt.Sprint(kind, n), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					b := newBench(kind, n)
					var g gauge
					start := time.Now()
					l := b.loop(4*n, func(context.Context, int) error {
						g.enter()
						defer g.leave()
						time.Sleep(time.Second)
						return nil
					})
					l.Run()
					if got := time.Since(start); int(g.top.Load()) != n || got != 4*time.Second {
						t.Errorf("%d at once for %v, want %d for 4s", g.top.Load(), got, n)
					}
					b.end(t)
				})
			})
		}
	}
}

// A larger limit is used at once, a smaller one as calls end.
func TestSetLimitWhileRunning(t *testing.T) {
	for _, kind := range kinds {
		t.Run(kind, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(kind, 2)
				var g gauge
				l := b.loop(100, func(context.Context, int) error {
					g.enter()
					defer g.leave()
					time.Sleep(time.Hour)
					return nil
				})
				done := make(chan struct{})
				go func() { l.Run(); close(done) }()
				at := func(want int32) {
					t.Helper()
					synctest.Wait()
					if n := g.now.Load(); n != want {
						t.Errorf("%d at once, want %d", n, want)
					}
				}
				at(2)
				time.Sleep(time.Minute)
				l.lim.Set(5)
				at(5)
				l.lim.Set(3)
				at(5)
				time.Sleep(time.Hour)
				at(3)
				l.lim.Set(64)
				<-done
				b.end(t)
			})
		})
	}
}

// A smaller limit does not wait for the quantum: no call starts beyond it, even if
// no time has passed.
func TestSmallerLimitAtOnce(t *testing.T) {
	for _, kind := range kinds {
		t.Run(kind, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(kind, 3)
				first, second := make(chan struct{}), make(chan struct{})
				var g gauge
				l := b.loop(6, func(_ context.Context, i int) error {
					g.enter()
					defer g.leave()
					if i < 3 {
						<-first
					} else {
						<-second
					}
					return nil
				})
				done := make(chan struct{})
				go func() { l.Run(); close(done) }()
				synctest.Wait()
				l.lim.Set(1)
				close(first)
				synctest.Wait()
				if n := g.now.Load(); n != 1 {
					t.Errorf("%d at once, want 1", n)
				}
				close(second)
				<-done
				b.end(t)
			})
		})
	}
}

// A Goexit on a helper costs no helper: the next call begins at once, though the
// caller is busy.
func TestGoexitCostsNoHelper(t *testing.T) {
	for _, kind := range kinds[:2] { // on an engine the caller does not help
		t.Run(kind, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(kind, 2)
				start := time.Now()
				var exits atomic.Int32
				caller := goroutine.ID()
				l := b.loop(10, func(context.Context, int) error {
					if goroutine.ID() == caller {
						time.Sleep(time.Hour)
						return nil
					}
					time.Sleep(time.Second)
					if exits.Add(1) == 9 && time.Since(start) != 9*time.Second {
						t.Errorf("the last of 9 ended after %v", time.Since(start))
					}
					runtime.Goexit()
					return nil
				})
				l.Body.(*testJob).failed = func(int, task.Outcome) bool { return false }
				l.Run()
				if got := time.Since(start); got != time.Hour || exits.Load() != 9 {
					t.Errorf("%d calls of Goexit, %v in all", exits.Load(), got)
				}
				b.end(t)
			})
		})
	}
}

// A loop on a permit that its task has lent does not give way to waiters,
// who cannot use it; doing so for ever would keep the time of this bubble still.
func TestLentPermitWhileOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench("engine", 2)
		start := time.Now()
		var wg sync.WaitGroup
		wg.Go(func() {
			b.loop(1, func(context.Context, int) error { time.Sleep(time.Hour); return nil }).Run()
		})
		wg.Go(func() {
			b.loop(1, func(ctx context.Context, _ int) error {
				time.Sleep(time.Minute)
				l := b.loop(3, func(context.Context, int) error { time.Sleep(time.Second); return nil })
				l.Context, l.Parent = ctx, limit.ScopeOf(ctx)
				l.Run()
				if got := time.Since(start); got != time.Minute+3*time.Second {
					t.Errorf("the inner loop ended after %v", got)
				}
				return nil
			}).Run()
		})
		time.Sleep(time.Second)
		b.lim.Set(1) // two are out until the hour is over
		wg.Wait()
		b.end(t)
	})
}

// An error stops the loop: nothing begins after it.
func TestErrorStops(t *testing.T) {
	boom := errors.New("boom")
	for _, kind := range kinds {
		for _, n := range []int{1, 4} {
			t.Run(fmt.Sprint(kind, n), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					b := newBench(kind, n)
					var calls atomic.Int32
					l := b.loop(1000, func(_ context.Context, i int) error {
						calls.Add(1)
						time.Sleep(time.Second)
						if i == 2*n {
							time.Sleep(time.Second)
							return boom
						}
						return nil
					})
					failed := l.Body.(*testJob).failed
					var got atomic.Int32
					l.Body.(*testJob).failed = func(i int, o task.Outcome) bool {
						if o.Err == boom && i == 2*n {
							got.Add(1)
						}
						return failed(i, o)
					}
					l.Run()
					want := int32(2*n + 1) // at limit 1 the rest had no chance
					if n > 1 {
						want = int32(4*n - 1 + n - 1) // those beside had two more turns
					}
					if got.Load() != 1 || l.Complete() || calls.Load() > want+1 {
						t.Errorf("%d calls, at most %d wanted; told %d times", calls.Load(), want, got.Load())
					}
					b.end(t)
				})
			})
		}
	}
}

// The end of the context stops the loop, and Run returns when the calls have.
func TestContextStops(t *testing.T) {
	for _, kind := range kinds {
		t.Run(kind, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(kind, 3)
				ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second/2)
				defer cancel()
				var calls atomic.Int32
				l := b.loop(1000, func(context.Context, int) error {
					calls.Add(1)
					time.Sleep(time.Second)
					return nil
				})
				l.Context, l.Parent = ctx, limit.ScopeOf(ctx)
				start := time.Now()
				l.Run()
				if time.Since(start) != 3*time.Second || calls.Load() != 9 || l.Complete() {
					t.Errorf("%d calls in %v", calls.Load(), time.Since(start))
				}
				b.end(t)
			})
		})
	}
}

// Panics and Goexits are told apart, on helpers and on the caller. When they do
// not stop the loop, every other item is called.
func TestOutcomes(t *testing.T) {
	for _, kind := range kinds {
		for _, n := range []int{1, 2, 4} {
			t.Run(fmt.Sprint(kind, n), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					b := newBench(kind, n)
					const items = 30
					var exits, finished atomic.Int32
					var onCaller atomic.Bool
					var caller atomic.Int64
					l := b.loop(items, func(_ context.Context, i int) error {
						time.Sleep(time.Millisecond)
						if i%3 == 1 {
							if int64(goroutine.ID()) == caller.Load() {
								onCaller.Store(true)
							}
							runtime.Goexit()
						}
						finished.Add(1)
						return nil
					})
					l.Body.(*testJob).failed = func(i int, o task.Outcome) bool {
						if i%3 != 1 || !o.Goexit {
							t.Errorf("item %d: %+v", i, o)
						}
						exits.Add(1)
						return false
					}
					returned := false
					done := make(chan struct{})
					go func() {
						defer close(done)
						caller.Store(int64(goroutine.ID()))
						l.Run()
						returned = true
					}()
					<-done
					if returned == onCaller.Load() {
						t.Errorf("Run returned %v; a Goexit on its goroutine: %v", returned, onCaller.Load())
					}
					if returned && (exits.Load() != items/3 || finished.Load() != items-items/3) {
						t.Errorf("%d exits, %d finished", exits.Load(), finished.Load())
					}
					b.end(t)
				})
			})
		}
	}
}

func TestPanicStops(t *testing.T) {
	for _, kind := range kinds {
		for _, n := range []int{1, 4} {
			t.Run(fmt.Sprint(kind, n), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					b := newBench(kind, n)
					l := b.loop(100, func(_ context.Context, i int) error {
						time.Sleep(time.Second)
						if i == 10 {
							panic("x")
						}
						return nil
					})
					failed := l.Body.(*testJob).failed
					var panics atomic.Int32
					l.Body.(*testJob).failed = func(i int, o task.Outcome) bool {
						if i == 10 && o.Panic != nil && o.Panic.Value == "x" && len(o.Panic.Stack) > 0 {
							panics.Add(1)
						}
						return failed(i, o)
					}
					if !l.Run() || l.Complete() || panics.Load() != 1 {
						t.Errorf("%d panics; complete: %v", panics.Load(), l.Complete())
					}
					b.end(t)
				})
			})
		}
	}
}

// Loops on one limiter of one permit, nested on a task's own context: the inner
// one runs on the outer one's permit.
func TestNested(t *testing.T) {
	for _, kind := range kinds[1:] {
		for _, n := range []int{1, 2} {
			t.Run(fmt.Sprint(kind, n), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					b := newBench(kind, n)
					var g gauge
					var leaves atomic.Int32
					var level func(ctx context.Context, depth int)
					level = func(ctx context.Context, depth int) {
						if depth == 0 {
							g.enter()
							time.Sleep(time.Millisecond)
							g.leave()
							leaves.Add(1)
							return
						}
						l := b.loop(3, func(ctx context.Context, _ int) error { level(ctx, depth-1); return nil })
						l.Context, l.Parent = ctx, limit.ScopeOf(ctx)
						l.Run()
					}
					level(context.Background(), 4)
					if leaves.Load() != 81 || int(g.top.Load()) != n {
						t.Errorf("%d leaves, %d at once under %d", leaves.Load(), g.top.Load(), n)
					}
					b.end(t)
				})
			})
		}
	}
}

// Two loops on one limiter share it by turns.
func TestLoopsYield(t *testing.T) {
	for _, kind := range kinds[1:] {
		t.Run(kind, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(kind, 1)
				var g gauge
				var first, second atomic.Int32
				var wg sync.WaitGroup
				for _, mine := range []*atomic.Int32{&first, &second} {
					wg.Go(func() {
						b.loop(10, func(context.Context, int) error {
							g.enter()
							defer g.leave()
							mine.Add(1)
							time.Sleep(time.Second)
							return nil
						}).Run()
					})
				}
				for range 9 {
					time.Sleep(2 * time.Second)
					if a, b := first.Load(), second.Load(); a-b > 2 || b-a > 2 {
						t.Errorf("one loop had %d turns, the other %d", a, b)
					}
				}
				wg.Wait()
				if g.top.Load() != 1 {
					t.Errorf("%d at once", g.top.Load())
				}
				b.end(t)
			})
		})
	}
}

// A loop that begins on a closed engine, or one that closes meanwhile, says so
// and calls nothing.
func TestClosedEngine(t *testing.T) {
	b := newBench("engine", 1)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	l := b.loop(3, func(context.Context, int) error { t.Error("called"); return nil })
	l.Context = interposed{ctx, func() { b.e.Close(); b.e.WaitIdle(nil) }}
	if l.Run() {
		t.Error("Run reports true")
	}
	b.end(t)
}

// interposed is a context that calls f when somebody asks for its end.
type interposed struct {
	context.Context
	f func()
}

func (c interposed) Done() <-chan struct{} { c.f(); return c.Context.Done() }

// Abandon ends a loop that waits for its turn, and is told before Run returns.
func TestAbandoned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench("engine", 1)
		hold := make(chan struct{})
		go b.loop(1, func(context.Context, int) error { <-hold; return nil }).Run()
		synctest.Wait()
		l := b.loop(5, func(context.Context, int) error { t.Error("called"); return nil })
		told := false
		l.Body.(*testJob).abandoned = func() {
			told = true
			if l.isStopped() {
				t.Error("a helper could have ended the loop before it was told")
			}
		}
		done := make(chan struct{})
		go func() {
			defer close(done)
			if l.Run(); !told || l.Complete() {
				t.Errorf("told %v, complete %v", told, l.Complete())
			}
		}()
		synctest.Wait()
		b.e.Close()
		b.e.Abandon()
		<-done
		close(hold)
		b.end(t)
	})
}

// TestRandom mixes loops of all kinds on one limiter with failures, nested
// loops, strangers and changes of the limit, and counts.
func TestRandom(t *testing.T) {
	for round := range uint64(60) {
		s := *seed + round
		const largest = 4
		b := newBench("engine", largest)
		var g gauge
		var wg sync.WaitGroup
		for c := range 4 {
			r := rand.New(rand.NewPCG(s, uint64(c)))
			wg.Go(func() {
				for range 6 {
					n := 1 + r.IntN(40)
					kind, fault, nested := r.IntN(3), r.IntN(4), r.IntN(3) == 0
					at := r.IntN(n)
					calls := make([]atomic.Int32, n)
					mine := *b
					if kind == 0 {
						mine.e = nil
					}
					var stopped atomic.Bool
					l := mine.loop(n, func(ctx context.Context, i int) error {
						calls[i].Add(1)
						if nested && i == at {
							in := mine.loop(3, func(context.Context, int) error { g.enter(); runtime.Gosched(); g.leave(); return nil })
							in.Context, in.Parent = ctx, limit.ScopeOf(ctx)
							in.Run()
							return nil
						}
						g.enter()
						defer g.leave()
						switch {
						case i != at:
						case fault == 0:
							stopped.Store(true)
							return errors.New("boom")
						case fault == 1:
							stopped.Store(true)
							panic("x")
						case fault == 2:
							runtime.Goexit()
						}
						return nil
					})
					stop := l.Body.(*testJob).failed
					l.Body.(*testJob).failed = func(i int, o task.Outcome) bool { return !o.Goexit && stop(i, o) }
					var returned bool
					done := make(chan struct{})
					go func() { defer close(done); l.Run(); returned = true }()
					<-done
					sum := 0
					for i := range calls {
						if c := int(calls[i].Load()); c > 1 {
							t.Errorf("-stint.seed=%d: item %d was called %d times", s, i, c)
						} else {
							sum += c
						}
					}
					if returned && !stopped.Load() && sum != n {
						t.Errorf("-stint.seed=%d: %d of %d items were called", s, sum, n)
					}
				}
			})
		}
		r := rand.New(rand.NewPCG(s, 99))
		wg.Go(func() {
			for range 100 {
				b.lim.Set(1 + r.IntN(largest))
				runtime.Gosched()
			}
			b.lim.Set(largest)
		})
		wg.Wait()
		b.end(t)
		if top := g.top.Load(); top > largest {
			t.Errorf("-stint.seed=%d: %d at once under %d", s, top, largest)
		}
		if t.Failed() {
			return
		}
	}
}

// A caller that gave a permit away waits for that of its own task too, which
// nobody else can use.
func TestCallerWaitsForItsOwnPermit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench("shared", 2)
		b.lim.TryAcquire() // of the task that the caller is
		ctx := limit.TaskContext(context.Background(), limit.NewHeldPermit(b.lim, limit.Permit{}), nil, true)
		sibling, _ := b.lim.Acquire(false, false, nil, nil, limit.ScopeOf(ctx), nil) // has it
		l := b.loop(10, func(_ context.Context, i int) error {
			if i == 0 {
				b.lim.Set(1)
			}
			return nil
		})
		l.Context, l.Parent = ctx, limit.ScopeOf(ctx)
		done := make(chan struct{})
		go func() { l.Run(); close(done) }()
		synctest.Wait() // the caller had the other permit for one call
		b.lim.Release(sibling)
		synctest.Wait()
		select {
		case <-done:
		default:
			t.Error("the caller waits for ever beside its own free permit")
			b.lim.Set(9)
			<-done
		}
		b.lim.Release(limit.Permit{})
		b.end(t)
	})
}

// meetings is how often two sides meet at a moment that is to be hit. The race detector
// makes it longer, and each round slower.
var meetings = map[bool]int64{false: 100_000, true: 10_000}[race.Enabled]

// A spare worker that joins the queue while the loop is ended leaves it: either end finds it
// there, or it finds the loop over.
func TestSpareOfAnEndedLoop(t *testing.T) {
	lim := limit.New(1)
	lim.TryAcquire() // a stranger
	spins := 1000
	if runtime.GOMAXPROCS(0) == 1 {
		spins = 1 // the other side cannot come meanwhile
	}
	var begun, ended atomic.Int64 // rounds; both sides spin, so as to go on at about the same time
	meet := func(at *atomic.Int64, round int64, late int64) {
		for i := 1; at.Load() < round; i++ {
			if i%spins == 0 {
				runtime.Gosched()
			}
		}
		for range late {
			at.Load()
		}
	}
	var l *Loop
	var wg sync.WaitGroup
	defer wg.Wait()
	wg.Go(func() {
		for round := int64(1); round <= meetings; round++ {
			meet(&begun, round, round%61)
			l.Stop()
			l.cancelSpare()
			ended.Store(round)
		}
	})
	lost := 0
	for round := int64(1); round <= meetings; round++ {
		l = &Loop{N: 3, Context: context.Background(), Limiter: lim}
		l.init()
		begun.Store(round)
		meet(&begun, round, round%17)
		l.addSpare()
		meet(&ended, round, 0)
		if _, _, waiting := lim.Counts(); waiting != 0 || l.running.Load() != 0 || l.spare.exists.Load() {
			lost++
			lim.Leave(&l.spare.waiter)
		}
	}
	if lost > 0 {
		t.Errorf("in %d of %d rounds the spare worker stays in the queue", lost, meetings)
	}
}
