package loop

import (
	"context"
	"math/rand/v2"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stint-go/stint/internal/auto"
)

// adaptiveLoop returns a loop with an adaptive limit of its own between min and max.
func adaptiveLoop(n, min, max int, body func(ctx context.Context, i int) error) *Loop {
	l := newBench("solo", 0).loop(n, body)
	l.Auto = auto.Config{Min: min, Max: max, Burst: max, Procs: l.Procs}
	return l
}

// Each index is called once and never more at once than the largest limit, however
// the limit moves, and no goroutine is left.
func TestAdaptiveLoopLosesNothing(t *testing.T) {
	const largest = 8
	rounds := uint64(300)
	if testing.Short() {
		rounds = 30
	}
	for round := range rounds {
		s := *seed + round
		r := rand.New(rand.NewPCG(s, 1))
		n := 2 + r.IntN(400)
		spin, sets := r.IntN(3), r.IntN(20)
		calls := make([]atomic.Int32, n)
		var now, top atomic.Int32
		var l *Loop
		l = adaptiveLoop(n, 1, largest, func(_ context.Context, i int) error {
			c := now.Add(1)
			for old := top.Load(); c > old && !top.CompareAndSwap(old, c); old = top.Load() {
			}
			calls[i].Add(1)
			if spin > 0 {
				runtime.Gosched()
			}
			if i%97 == 0 {
				time.Sleep(time.Duration(i%5) * 10 * time.Microsecond)
			}
			if sets > 0 && i%sets == 0 {
				l.lim.Set(1 + i%largest)
			}
			now.Add(-1)
			return nil
		})
		if !l.Run() || !l.Complete() {
			t.Fatalf("-stint.seed=%d: not complete", s)
		}
		for i := range calls {
			if c := calls[i].Load(); c != 1 {
				t.Fatalf("-stint.seed=%d: index %d was called %d times", s, i, c)
			}
		}
		if top.Load() > largest {
			t.Fatalf("-stint.seed=%d: %d at once, the largest limit is %d", s, top.Load(), largest)
		}
		if _, out, waiting := l.lim.Counts(); l.running.Load() != 0 || out != 0 || waiting != 0 {
			t.Fatalf("-stint.seed=%d: after the end %d workers, %d permits are out, %d wait", s, l.running.Load(), out, waiting)
		}
	}
}

// A smaller limit is reached as the workers finish their items.
func TestAdaptiveLoopShrinks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var now atomic.Int32
		l := adaptiveLoop(40, 1, 8, func(context.Context, int) error {
			now.Add(1)
			time.Sleep(time.Second)
			now.Add(-1)
			return nil
		})
		ended := make(chan struct{})
		go func() { l.Run(); close(ended) }()
		for _, c := range []struct{ set, want int }{{0, 8}, {2, 2}, {5, 5}, {1, 1}} {
			if c.set > 0 {
				l.lim.Set(c.set)
			}
			time.Sleep(1100 * time.Millisecond)
			if got := int(now.Load()); got != c.want {
				t.Errorf("limit %d: %d run, want %d", c.set, got, c.want)
			}
		}
		l.Stop()
		<-ended
	})
}

// Only a loop whose items wait, and reach the limit, starts a search. It ends with the loop.
func TestSearchOfALoop(t *testing.T) {
	searching := func(l *Loop) bool { return l.lim.ActiveController() != nil }
	synctest.Test(t, func(t *testing.T) {
		for _, c := range []struct {
			n    int
			wait time.Duration
			want bool
		}{{10_000, 0, false}, {5, time.Second, false}, {100, time.Second, true}} {
			var active atomic.Bool
			var l *Loop
			l = adaptiveLoop(c.n, 1, 256, func(context.Context, int) error {
				time.Sleep(c.wait)
				if searching(l) {
					active.Store(true)
				}
				return nil
			})
			l.Auto.Burst = 3 * (l.Procs + 8)
			l.Run()
			if active.Load() != c.want || searching(l) {
				t.Errorf("%d items of %v: active %v, want %v; after the end: %v", c.n, c.wait, active.Load(), c.want, searching(l))
			}
		}
	})
}

// Workers that wait for a permit under a limit that has become smaller go on when it is
// larger again, and the indexes that they gave back are called.
func TestYieldedPermitsComeBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, c := range []struct{ low, high int }{{1, 1}, {1, 3}, {2, 8}} {
			var calls atomic.Int32
			l := newBench("solo", 5).loop(100, func(context.Context, int) error {
				calls.Add(1)
				time.Sleep(time.Second)
				return nil
			})
			ended := make(chan struct{})
			go func() { l.Run(); close(ended) }()
			synctest.Wait()
			before := int(calls.Load())
			l.lim.Set(c.low)
			time.Sleep(1100 * time.Millisecond) // all but low have given their permits up
			if got := int(calls.Load()) - before; got != c.low {
				t.Errorf("%d calls started under %d", got, c.low)
			}
			l.lim.Set(c.high)
			synctest.Wait()
			if _, out, _ := l.lim.Counts(); out != c.high {
				t.Errorf("%d at work under %d", out, c.high)
			}
			l.Stop()
			<-ended
		}
	})
}
