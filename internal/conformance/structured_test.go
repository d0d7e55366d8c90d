package conformance_test

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stint-go/stint"
	_ "github.com/stint-go/stint/debug" // and the other packages that callers import, for the subtest "import"
	_ "github.com/stint-go/stint/errgroup"
	"github.com/stint-go/stint/internal/goroutine"
	_ "github.com/stint-go/stint/par"
	_ "github.com/stint-go/stint/stream"
)

func TestStructured(t *testing.T) {
	for name, end := range map[string]func() error{
		"nil":   func() error { return nil },
		"error": func() error { return errBoom },
		"panic": func() error { panic("boom") },
	} {
		t.Run(name, func(t *testing.T) {
			everywhere(t, 3, func(t *testing.T, run run) { outlastsTheOthers(t, run, end) })
		})
	}
	bubble(t, "Goexit of the caller", goexitOfTheCaller)
	for name, leave := range ways {
		for _, opts := range [][]stint.Option{{}, {stint.Unordered()}, {stint.KeepGoing()}} {
			bubble(t, name+" in the loop", func(t *testing.T) { leaveTheLoop(t, leave, opts...) })
		}
		if leave != nil {
			bubble(t, name+" of the sequence", func(t *testing.T) { leaveTheSequence(t, leave) })
		}
	}
	bubble(t, "Close", func(t *testing.T) {
		p := stint.NewPool(stint.Limit(2))
		var g gauge
		for range 6 {
			p.Go(func(context.Context) { g.Hold(time.Hour) })
		}
		p.Close()
		g.Is(t, 0, 2, 6)
		equal(t, "time passed", sinceBubble(), 3*time.Hour)
	})
	t.Run("import", func(t *testing.T) {
		if isChild() {
			fmt.Println("goroutines of the library:", len(goroutine.Ours()))
			return
		}
		output, failed := child(t)
		if failed || !strings.Contains(output, "goroutines of the library: 0") {
			t.Error(output)
		}
	})
}

// outlastsTheOthers has the second of three tasks end; the others take no notice of the cancelled context
// for an hour.
func outlastsTheOthers(t *testing.T, run run, end func() error) {
	var g gauge
	start := time.Now()
	recovered(func() {
		run(bg, 3, func(_ context.Context, i int) error {
			if i == 1 {
				time.Sleep(time.Second)
				return end()
			}
			g.Hold(time.Hour)
			return nil
		})
	})
	g.Is(t, 0, 2, 2)
	took(t, start, time.Hour)
}

// ways are those in which a function of the caller may leave the library. nil is a break.
var ways = map[string]func(){"break": nil, "panic": func() { panic("mine") }, "Goexit": runtime.Goexit}

// goexitOfTheCaller ends the goroutine of the caller in an item that it runs itself.
func goexitOfTheCaller(t *testing.T) {
	var g gauge
	leaving(func() {
		caller := goroutine.ID()
		stint.Range(bg, 3, func(context.Context, int) error {
			if goroutine.ID() == caller {
				runtime.Goexit()
			}
			g.Hold(time.Hour)
			return nil
		}, stint.Limit(3))
		t.Error("Range returned")
	})
	g.Is(t, 0, g.Max(), g.Max())
	equal(t, "time passed", sinceBubble(), time.Duration(min(g.Total(), 1))*time.Hour)
}

// leaveTheLoop leaves a loop over a sequence while two tasks run for an hour.
func leaveTheLoop(t *testing.T, leave func(), opts ...stint.Option) {
	var g gauge
	leaving(func() {
		for range stint.MapSeq(bg, count(1000), func(_ context.Context, i int) (int, error) {
			if i > 0 {
				g.Hold(time.Hour)
			}
			return 0, nil
		}, append(opts, stint.Limit(2))...) {
			synctest.Wait()
			if leave == nil {
				break
			}
			leave()
		}
	})
	g.Is(t, 0, 2, 2)
	equal(t, "time passed", sinceBubble(), time.Hour)
}

// leaveTheSequence leaves the sequence of a call while a task runs for an hour.
func leaveTheSequence(t *testing.T, leave func()) {
	var g gauge
	leaving(func() {
		stint.EachSeq(bg, func(yield func(int) bool) {
			yield(1)
			synctest.Wait()
			leave()
		}, func(ctx context.Context, _ int) error {
			<-ctx.Done()
			g.Hold(time.Hour)
			return nil
		}, stint.Limit(2))
		t.Error("not left")
	})
	g.Is(t, 0, 1, 1)
	equal(t, "time passed", sinceBubble(), time.Hour)
}

// ended is a context that has ended.
func ended() context.Context {
	ctx, cancel := context.WithCancelCause(bg)
	cancel(errGone)
	return ctx
}

// 32: every accepted task is run or reported, also when Go and Close meet. Fails:
// workerpool before v1.2.0 (#76, panics), pond before v2.3.1.
func TestEveryAcceptedTaskIsAccountedFor(t *testing.T) {
	for round := range rounds(200) {
		p := stint.NewPool(stint.Limit(2), stint.Queue(round%4))
		g := stint.NewGroup(bg, p, stint.Queue(round%3))
		var accepted, ran atomic.Int64
		var wg sync.WaitGroup
		flood := func(start func() bool) {
			for start() {
				accepted.Add(1)
			}
		}
		for range 3 {
			wg.Go(func() { flood(func() bool { return p.Go(func(context.Context) { ran.Add(1) }) == nil }) })
			wg.Go(func() { flood(func() bool { return g.Go(func(context.Context) error { ran.Add(1); return nil }) }) })
		}
		for ran.Load() < 10 {
			runtime.Gosched()
		}
		n := 0
		if round%2 == 0 {
			p.Close()
		} else {
			n, _ = p.Shutdown(ended())
		}
		wg.Wait()
		if err := g.Wait(); err != stint.ErrClosed {
			t.Fatalf("the group: %v, want ErrClosed", err)
		}
		s := p.Stats()
		if ran.Load()+int64(n) != accepted.Load() || s.Completed != uint64(ran.Load()) || s.Dropped != uint64(n) {
			t.Fatalf("round %d: %d accepted, %d ran, %d abandoned, %+v", round, accepted.Load(), ran.Load(), n, s)
		}
	}
}

// Shutdown runs all tasks if there is time, and otherwise returns how many it abandoned.
func TestShutdownCountsTheAbandoned(t *testing.T) {
	bubble(t, "late", shutDownLate) // in time: FuzzPool
	each(t, func(t *testing.T, e entryPoint) { shutDownCall(t, e, 0) })
	each(t, func(t *testing.T, e entryPoint) { shutDownCall(t, e, 1) })
}

// shutDownLate shuts a pool down with two of its tasks and four of a group's done, and two at work.
func shutDownLate(t *testing.T) {
	p := stint.NewPool(stint.Limit(2))
	group := stint.NewGroup(bg, p)
	var g gauge
	for range 10 {
		p.Go(func(ctx context.Context) {
			g.Hold(time.Second)
			if ctx.Err() != nil {
				equal(t, "cause", context.Cause(ctx), stint.ErrClosed)
				time.Sleep(time.Hour) // Shutdown waits for those that run
			}
		})
		group.Go(func(context.Context) error { g.Hold(time.Second); return nil })
	}
	ctx, cancel := context.WithTimeoutCause(bg, 2500*time.Millisecond, errGone)
	defer cancel()
	n, err := p.Shutdown(ctx)
	equal(t, "abandoned", n, 20-6)
	equal(t, "error", err, errGone)
	g.Is(t, 0, 2, 6)
	equal(t, "time passed", sinceBubble(), time.Hour+3*time.Second)
	equal(t, "error of the group", group.Wait(), stint.ErrClosed)
	s := p.Stats()
	equal(t, "completed, dropped", [2]uint64{s.Completed, s.Dropped}, [2]uint64{6, 14})
	n, err = p.Shutdown(bg)
	equal(t, "abandoned, asked again", n, 14)
	equal(t, "error, asked again", err, nil)
}

// shutDownCall shuts a pool down while a call runs on it: what is abandoned is told. Another task may have
// the worker.
func shutDownCall(t *testing.T, e entryPoint, busy int) {
	p := stint.NewPool(stint.Limit(1))
	for range busy {
		p.Go(func(ctx context.Context) { time.Sleep(time.Hour) })
		synctest.Wait()
	}
	var g gauge
	result := begin(func() error { return e.run(bg, 100, holds(&g, time.Second), p) })
	synctest.Wait()
	go p.Shutdown(ended())
	equal(t, "error", <-result, stint.ErrClosed)
	g.Is(t, 0, 1-busy, 1-busy)
	p.Close()
}

// Close runs the tasks that were accepted, also when a later Go or TryGo is refused.
func TestCloseRunsWhatWasAccepted(t *testing.T) {
	bubble(t, "tasks", func(t *testing.T) {
		p := stint.NewPool(stint.Limit(1))
		g := stint.NewGroup(bg, p)
		ran := 0
		for range 3 {
			g.Go(func(ctx context.Context) error {
				time.Sleep(time.Second)
				equal(t, "the task's context", ctx.Err(), nil)
				ran++
				return nil
			})
		}
		synctest.Wait()
		go p.Close()
		synctest.Wait()
		equal(t, "TryGo", g.TryGo(sleep(0)), false)
		equal(t, "error", g.Wait(), stint.ErrClosed) // the refused task is missing
		equal(t, "tasks run", ran, 3)
	})
	for _, e := range entryPoints[:3] {
		bubble(t, e.name, func(t *testing.T) { // a call that has begun before Close ends as if there were none
			p := stint.NewPool(stint.Limit(2))
			var g gauge
			time.AfterFunc(time.Second/2, p.Close)
			equal(t, "error", e.run(bg, 10, holds(&g, time.Second), p), nil)
			g.Is(t, 0, 2, 10)
		})
	}
}

// 33: Close may be called twice and at once, and what comes after it is defined.
// Fails: conc v0.3.0 (panics).
func TestCloseTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := stint.NewPool(stint.Limit(1))
		p.Go(func(context.Context) { time.Sleep(time.Hour) })
		var wg sync.WaitGroup
		for range 3 {
			wg.Go(func() { p.Close(); equal(t, "time passed", sinceBubble(), time.Hour) })
			wg.Go(func() { p.Shutdown(bg); equal(t, "time passed", sinceBubble(), time.Hour) })
			wg.Go(func() {
				equal(t, "Idle", p.Idle(bg), nil)
				equal(t, "time passed", sinceBubble(), time.Hour)
			})
		}
		wg.Wait()
		p.Close()
		noneLeft(t)
	})
}

// Wait returns the same each time, to several callers at once, and after the end of the
// pool.
func TestWaitTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := stint.NewPool(stint.Limit(1))
		good, bad := stint.NewGroup(bg, p), stint.NewGroup(bg, p)
		good.Go(sleep(time.Second))
		bad.Go(func(context.Context) error { time.Sleep(time.Second); return errBoom })
		var wg sync.WaitGroup
		for range 3 {
			wg.Go(func() { equal(t, "good", good.Wait(), nil) })
			wg.Go(func() { equal(t, "bad", bad.Wait(), errBoom) })
		}
		wg.Wait()
		p.Close()
		for range 2 {
			equal(t, "Go", good.Go(sleep(0)), false)
			equal(t, "good after Close", good.Wait(), nil)
			equal(t, "Go", bad.Go(sleep(0)), false)
			equal(t, "bad after Close", bad.Wait(), errBoom)
		}
		p.Shutdown(ended())
		equal(t, "good after Shutdown", good.Wait(), nil)
	})
	t.Run("at once with Go", func(t *testing.T) { // for the race detector
		for range 100 {
			p := stint.NewPool(stint.Limit(1))
			g := stint.NewGroup(bg, p)
			var wg sync.WaitGroup
			wg.Go(func() { g.Go(sleep(0)) })
			wg.Go(func() { g.Wait() })
			wg.Go(p.Close)
			wg.Wait()
			g.Wait()
		}
	})
}

// No call starts on a pool after Close has returned.
func TestNothingBeginsAfterClose(t *testing.T) {
	for i := range 50 * len(entryPoints) {
		p := stint.NewPool(stint.Limit(1))
		var closed atomic.Bool
		ended := begin(func() error {
			return entryPoints[i%len(entryPoints)].run(bg, 1, func(context.Context, int) error {
				equal(t, "closed", closed.Load(), false)
				return nil
			}, p)
		})
		p.Close()
		closed.Store(true)
		<-ended
		equal(t, "workers", p.Stats().Workers, 0)
	}
}

// Close runs the accepted tasks, and the tasks that they start with their context; others
// are refused meanwhile.
func TestCloseRunsWhatTasksStart(t *testing.T) {
	each(t, func(t *testing.T, e entryPoint) {
		p := stint.NewPool(stint.Limit(1))
		var ran atomic.Int64
		err, last := errBoom, errBoom
		p.Go(func(ctx context.Context) {
			time.Sleep(time.Second)
			err = e.run(ctx, 3, func(context.Context, int) error { ran.Add(1); return nil }, p)
			last = p.GoContext(ctx, func(context.Context) { ran.Add(1) })
		})
		time.Sleep(time.Second / 2)
		go func() {
			synctest.Wait() // Close has begun
			equal(t, "without its context", p.Go(func(context.Context) {}), stint.ErrClosed)
		}()
		p.Close()
		equal(t, "error", err, nil)
		equal(t, "error of GoContext", last, nil)
		equal(t, "ran", ran.Load(), 4)
	})
}

// After Close has returned no task starts: neither by a task that runs elsewhere on the same
// Limiter, nor with the context of a task that has ended.
func TestClosedPoolTakesNothing(t *testing.T) {
	bubble(t, "closed", func(t *testing.T) {
		l := stint.Limit(2)
		p := stint.NewPool(l)
		var saved context.Context
		p.Go(func(ctx context.Context) { saved = context.WithoutCancel(ctx) })
		p.Close()
		g := stint.NewGroup(bg, l)
		g.Go(func(ctx context.Context) error {
			equal(t, "a task on the same limiter", p.GoContext(ctx, func(context.Context) { t.Error("was run") }), stint.ErrClosed)
			equal(t, "a loop on the same limiter", stint.Range(ctx, 1, unwanted(t), p), stint.ErrClosed)
			return nil
		})
		g.Wait()
		equal(t, "with the context of a task that has ended", stint.Range(saved, 1, unwanted(t), p), stint.ErrClosed)
	})
}

// 34: a pool is closed by a task of another pool. Shutdown by a task of the pool, which
// would wait for itself, panics: see TestBadArguments.
func TestCloseInATask(t *testing.T) {
	bubble(t, "other", func(t *testing.T) {
		p, other := stint.NewPool(), stint.NewPool()
		other.Go(func(context.Context) {})
		p.Go(func(context.Context) { other.Close() })
		p.Close()
	})
}
