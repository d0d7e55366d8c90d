package loop

import (
	"context"
	"errors"
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stint-go/stint/internal/auto"
	"github.com/stint-go/stint/internal/goroutine"
	"github.com/stint-go/stint/internal/limit"
	"github.com/stint-go/stint/internal/race"
	"github.com/stint-go/stint/internal/task"
	"github.com/stint-go/stint/internal/testkit"
	"github.com/stint-go/stint/internal/work"
)

var bg = context.Background()

func TestExactlyOnce(t *testing.T) {
	check := func(kind string, n, limit int) {
		b := newBench(kind, limit)
		calls := make([]int, n) // the race detector watches
		l := b.loop(bg, n, func(_ context.Context, i int) error {
			calls[i]++
			if i%1024 == 0 {
				runtime.Gosched()
			}
			return nil
		})
		if !l.Run() || !l.Complete() {
			t.Fatalf("%s, %d items, limit %d: not complete", kind, n, limit)
		}
		if i := slices.IndexFunc(calls, func(c int) bool { return c != 1 }); i >= 0 {
			t.Fatalf("%s, %d items, limit %d: item %d was called %d times", kind, n, limit, i, calls[i])
		}
		b.end(t)
	}
	for _, kind := range kinds {
		for _, n := range []int{1, 2, 127, 128, 129, 100_000} {
			for _, limit := range []int{1, 2, 3, 7, 8, 64} {
				check(kind, n, limit)
			}
		}
	}
}

// A larger limit is used at once, also by workers that have given their permits up, and a
// smaller one as calls end.
func TestLimitChanges(t *testing.T) {
	in(t, fixed, []int{5}, func(t *testing.T, b *bench) {
		var g testkit.Gauge
		l := b.loop(bg, 100, func(context.Context, int) error { g.Hold(time.Second); return nil })
		ended, _ := l.start()
		synctest.Wait()
		for _, c := range []struct{ limit, now, next int }{{5, 5, 5}, {1, 5, 1}, {1, 1, 1}, {3, 3, 3}, {8, 8, 8}, {2, 8, 2}, {8, 8, 8}} {
			l.lim.Set(c.limit)
			synctest.Wait()
			if n := g.Now(); n != c.now {
				t.Errorf("%d at once, want %d: the limit is %d", n, c.now, c.limit)
			}
			time.Sleep(1100 * time.Millisecond) // each ends a call, and none a second one
			if n := g.Now(); n != c.next {
				t.Errorf("%d at once, want %d: the limit was %d", n, c.next, c.limit)
			}
		}
		l.Stop()
		<-ended
	})
}

// Short items wait behind one that blocks, if a worker has claimed them with it: not under a fixed
// limit above the number of CPUs. If that one ends the loop, they do not start, and the loop is not
// complete. If it does not, also by a Goexit on a helper, each of them is called.
func TestRestOfAClaim(t *testing.T) {
	waited := 0
	for _, end := range []string{"return", "error", "stop", "end of context", "panic", "Goexit"} {
		in(t, kinds, []int{1, 2, 3}, func(t *testing.T, b *bench) {
			const n, blocked = 30_000, 15_000
			var calls [n]atomic.Int32
			var called, last atomic.Int32
			var caller atomic.Int64
			var onCaller atomic.Bool
			var l *testLoop
			l = b.loop(bg, n, func(_ context.Context, i int) error {
				called.Add(1)
				calls[i].Add(1)
				if i%16 == 0 {
					time.Sleep(16 * time.Nanosecond) // one each
				}
				switch {
				case i == blocked:
					time.Sleep(time.Hour)
					last.Store(called.Load())
				case i < blocked || i > blocked+2 || last.Load() == 0: // those behind it do the same
					return nil
				}
				switch end {
				case "error":
					return errors.New("boom")
				case "stop":
					l.Stop()
				case "end of context":
					l.cancel()
				case "panic":
					panic("x")
				case "Goexit":
					onCaller.CompareAndSwap(false, int64(goroutine.ID()) == caller.Load())
					runtime.Goexit()
				}
				return nil
			})
			l.Endless = end != "end of context"
			l.failed = func(_ int, o task.Outcome) bool { return !o.Goexit }
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				caller.Store(int64(goroutine.ID()))
				l.Run()
			}()
			<-ended
			sum, times := int(called.Load()), maxCalls(calls[:])
			stays := end == "return" || end == "Goexit" && !onCaller.Load()
			if times != 1 || stays && sum != n || !stays && sum != int(last.Load()) || l.Complete() != (sum == n) {
				t.Errorf("%s: %d calls of %d items, at most %d of one; complete: %v", end, sum, n, times, l.Complete())
			}
			if b.n == 1 {
				return
			}
			behind := n - int(last.Load())
			waited += behind
			single := b.kind != "adaptive" && b.n > runtime.GOMAXPROCS(0)
			if behind >= maxClaim || single && behind > 0 {
				t.Errorf("%s: %d items wait behind one", end, behind)
			}
		})
	}
	if waited == 0 {
		t.Error("no item has waited: no claim had several indexes")
	}
}

// A lower limit counts in the middle of a claim too: after a call has set it to 0, none starts, and
// later each item is called once.
func TestLowerLimitInAClaim(t *testing.T) {
	in(t, fixed, []int{1, 2}, func(t *testing.T, b *bench) {
		const n = 30_000
		var calls [n]atomic.Int32
		var called atomic.Int32
		var l *testLoop
		l = b.loop(bg, n, func(_ context.Context, i int) error {
			calls[i].Add(1)
			called.Add(1)
			if i%16 == 0 {
				time.Sleep(16 * time.Nanosecond)
			}
			if i == n/2 {
				l.lim.Set(0)
				before := called.Load()
				time.AfterFunc(time.Hour, func() {
					if more := int(called.Load() - before); more >= b.n { // the other worker may be about to start one
						t.Errorf("%d calls were made under a limit of 0", more)
					}
					l.lim.Set(b.n)
				})
			}
			return nil
		})
		l.Endless = true
		l.Run()
		if sum, times := called.Load(), maxCalls(calls[:]); sum != n || times != 1 {
			t.Errorf("%d calls of %d items, at most %d of one", sum, n, times)
		}
	})
}

// Workers that find nothing get what is left of the claims of others: short items may become long
// in the middle of a claim.
func TestRestsAreReturned(t *testing.T) {
	const short, n = 20_000, 16
	search := auto.Config{Min: n, Max: n, Burst: n, Procs: 2} // whose workers claim several indexes
	in(t, kinds[1:], []int{n}, func(t *testing.T, b *bench) {
		if b.kind != "adaptive" {
			b.lim = limit.NewAdaptive(search)
			defer b.lim.EndSearch()
		}
		if b.kind == "engine" {
			b.e, _ = work.New(work.Config{Limiter: b.lim, IdleTimeout: time.Second}, work.SourceConfig{})
		}
		for _, long := range []int{1, 16, 100} {
			var calls atomic.Int32
			var began time.Time
			l := b.loop(bg, short+long, func(_ context.Context, i int) error {
				calls.Add(1)
				if i%16 == 0 {
					time.Sleep(16 * time.Nanosecond)
				}
				if i == short-1 {
					began = time.Now()
				}
				if i >= short {
					time.Sleep(time.Hour)
				}
				return nil
			})
			l.Auto = search
			l.Run()
			share := time.Duration((long+n-1)/n+1) * time.Hour // and the long call that a worker is in when others find nothing
			if took := time.Since(began); int(calls.Load()) != short+long || took > share+time.Minute {
				t.Errorf("%d long calls in %v, %d calls in all", long, took, calls.Load())
			}
		}
	})
}

// maxCalls returns how often an item was called, at the maximum.
func maxCalls(calls []atomic.Int32) (n int32) {
	for i := range calls {
		n = max(n, calls[i].Load())
	}
	return n
}

// A Goexit on a helper costs no helper: the next call begins at once, though the
// caller is busy.
func TestGoexitCostsNoHelper(t *testing.T) {
	in(t, []string{"solo", "shared"}, []int{2}, func(t *testing.T, b *bench) { // on an engine the caller does not help
		start := time.Now()
		var exits atomic.Int32
		caller := goroutine.ID()
		l := b.loop(bg, 10, func(context.Context, int) error {
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
		l.failed = func(int, task.Outcome) bool { return false }
		l.Run()
		if got := time.Since(start); got != time.Hour || exits.Load() != 9 {
			t.Errorf("%d calls of Goexit, %v in all", exits.Load(), got)
		}
	})
}

// A loop on a permit that its task has lent does not give way to waiters,
// who cannot use it; doing so for ever would keep the time of this bubble still.
func TestLentPermitWhileOver(t *testing.T) {
	in(t, []string{"engine"}, []int{2}, func(t *testing.T, b *bench) {
		start := time.Now()
		var wg sync.WaitGroup
		wg.Go(func() {
			b.loop(bg, 1, func(context.Context, int) error { time.Sleep(time.Hour); return nil }).Run()
		})
		wg.Go(func() {
			b.loop(bg, 1, func(ctx context.Context, _ int) error {
				time.Sleep(time.Minute)
				b.loop(ctx, 3, func(context.Context, int) error { time.Sleep(time.Second); return nil }).Run()
				if got := time.Since(start); got != time.Minute+3*time.Second {
					t.Errorf("the inner loop ended after %v", got)
				}
				return nil
			}).Run()
		})
		time.Sleep(time.Second)
		b.lim.Set(1) // two are out until the hour is over
		wg.Wait()
	})
}

// A Goexit is told from a return, on helpers and on the caller, whose goroutine it ends. When
// it does not stop the loop, every other item is called.
func TestGoexits(t *testing.T) {
	in(t, kinds, []int{1, 2, 4}, func(t *testing.T, b *bench) {
		const items = 30
		var exits, finished, caller atomic.Int64
		var onCaller atomic.Bool
		l := b.loop(bg, items, func(_ context.Context, i int) error {
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
		l.failed = func(i int, o task.Outcome) bool {
			if i%3 != 1 || !o.Goexit {
				t.Errorf("item %d: %+v", i, o)
			}
			exits.Add(1)
			return false
		}
		returned, done := false, make(chan struct{})
		go func() {
			defer close(done)
			caller.Store(int64(goroutine.ID()))
			l.Run()
			returned = true
		}()
		<-done
		if returned == onCaller.Load() || returned && (exits.Load() != items/3 || finished.Load() != items-items/3) {
			t.Errorf("Run returned %v; a Goexit on its goroutine: %v; %d exits, %d finished", returned, onCaller.Load(), exits.Load(), finished.Load())
		}
	})
}

// Two loops on one limiter share it by turns.
func TestLoopsYield(t *testing.T) {
	in(t, common, []int{1}, func(t *testing.T, b *bench) {
		var g testkit.Gauge
		var first, second atomic.Int32
		var wg sync.WaitGroup
		for _, mine := range []*atomic.Int32{&first, &second} {
			wg.Go(func() {
				b.loop(bg, 10, func(context.Context, int) error { mine.Add(1); g.Hold(time.Second); return nil }).Run()
			})
		}
		for range 9 {
			time.Sleep(2 * time.Second)
			if a, b := first.Load(), second.Load(); a-b > 2 || b-a > 2 {
				t.Errorf("one loop had %d turns, the other %d", a, b)
			}
		}
		wg.Wait()
		if g.Max() != 1 {
			t.Errorf("%d at once", g.Max())
		}
	})
}

// A loop that begins on a closed engine, or one that closes meanwhile, says so
// and calls nothing.
func TestClosedEngine(t *testing.T) {
	b := newBench("engine", 1)
	l := b.loop(bg, 3, func(context.Context, int) error { t.Error("called"); return nil })
	l.Context = interposed{l.Context, func() { b.e.Close(); b.e.WaitIdle(nil) }}
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
	in(t, []string{"engine"}, []int{1}, func(t *testing.T, b *bench) {
		hold := make(chan struct{})
		b.loop(bg, 1, func(context.Context, int) error { <-hold; return nil }).start()
		synctest.Wait()
		l := b.loop(bg, 5, func(context.Context, int) error { t.Error("called"); return nil })
		told := false
		l.abandoned = func() {
			if told = true; l.has(stopped) {
				t.Error("a helper could have ended the loop before it was told")
			}
		}
		ended, _ := l.start()
		synctest.Wait()
		b.e.Close()
		b.e.Abandon()
		if <-ended; !told || l.Complete() {
			t.Errorf("told %v, complete %v", told, l.Complete())
		}
		close(hold)
	})
}

// A caller that gave a permit away waits for that of its own task too, which
// nobody else can use.
func TestCallerWaitsForItsOwnPermit(t *testing.T) {
	in(t, []string{"shared"}, []int{2}, func(t *testing.T, b *bench) {
		b.lim.TryAcquire() // of the task that the caller is
		ctx := limit.TaskContext(bg, limit.NewHeldPermit(b.lim, limit.Permit{}), nil, true)
		sibling, _ := b.lim.Acquire(false, false, nil, nil, limit.ScopeOf(ctx), nil) // has it
		ended, _ := b.loop(ctx, 10, func(_ context.Context, i int) error {
			if i == 0 {
				b.lim.Set(1)
			}
			return nil
		}).start()
		synctest.Wait() // the caller had the other permit for one call
		b.lim.Release(sibling)
		synctest.Wait()
		select {
		case <-ended:
		default:
			t.Error("the caller waits for ever beside its own free permit")
			b.lim.Set(9)
			<-ended
		}
		b.lim.Release(limit.Permit{})
	})
}

// Only a loop whose items wait, and reach the limit, starts a search. It ends with the loop.
func TestSearchOfALoop(t *testing.T) {
	for _, c := range []struct {
		n    int
		wait time.Duration
		want bool
	}{{10_000, 0, false}, {5, time.Second, false}, {100, time.Second, true}} {
		synctest.Test(t, func(t *testing.T) {
			var active atomic.Bool
			var l *testLoop
			searching := func() bool { return l.lim.ActiveController() != nil }
			l = newBench("adaptive", 30).loop(bg, c.n, func(context.Context, int) error {
				time.Sleep(c.wait)
				if searching() {
					active.Store(true)
				}
				return nil
			})
			l.Run()
			if active.Load() != c.want || searching() {
				t.Errorf("%d items of %v: active %v, want %v; after the end: %v", c.n, c.wait, active.Load(), c.want, searching())
			}
		})
	}
}

// Looking for more leaves the counter where it is. Those who looked before the last index was
// claimed find nothing when they claim, also where there is no larger int than N.
func TestCounterPassesTheLargestInt(t *testing.T) {
	for _, n := range []int{1, math.MaxInt - 1, math.MaxInt} {
		l := new(Loop)
		l.N = n
		l.next.Store(uint64(n) - 1)
		if lo, hi := l.claim(64); lo != n-1 || hi != n {
			t.Errorf("%d items: the last claim is %d to %d", n, lo, hi)
		}
		for range 4 {
			if lo, hi := l.claim(64); lo < hi || l.next.Load() != uint64(n)+63 {
				t.Errorf("%d items: claimed %d to %d, the next is %d", n, lo, hi, l.next.Load())
			}
		}
		if l.next.Add(4); l.left() != 0 || !l.isOver() {
			t.Errorf("%d items: %d are left after the end", n, l.left())
		}
	}
}

// meetings is how often two sides meet at a moment that is to be hit. The race detector
// makes it longer, and each round slower.
var meetings = map[bool]int64{false: 5_000, true: 2_000}[race.Enabled]

// meet waits for a round, with a little delay, so that both sides continue at about the same
// time.
func meet(at *atomic.Int64, round, late int64) {
	spins := 100
	if runtime.GOMAXPROCS(0) == 1 {
		spins = 1 // the other side cannot come meanwhile
	}
	for i := 1; at.Load() < round; i++ {
		if i%spins == 0 {
			runtime.Gosched()
		}
	}
	for range late {
		at.Load()
	}
}

// A spare worker that joins the queue while the loop is ended leaves it: either end finds it
// there, or it finds the loop over.
func TestSpareOfAnEndedLoop(t *testing.T) {
	lim := limit.New(1)
	lim.TryAcquire()              // a stranger
	var begun, ended atomic.Int64 // rounds
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
		l = new(Loop)
		l.N, l.Context, l.Limiter = 3, bg, lim
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
