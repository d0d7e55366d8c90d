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

// tunedLoop returns a loop whose own limit finds itself between min and max.
func tunedLoop(n, min, max int, body func(ctx context.Context, i int) error) *Loop {
	l := newBench("solo", 0).loop(n, body)
	l.Auto = auto.Config{Min: min, Max: max, Burst: max, Procs: l.Procs}
	return l
}

// Each index is called once and never more at once than the largest limit, however
// the limit moves, and no goroutine is left.
func TestTunedLoopLosesNothing(t *testing.T) {
	const largest = 8
	rounds := uint64(300)
	if testing.Short() {
		rounds = 30
	}
	for round := range rounds {
		s := *seed + round
		r := rand.New(rand.NewPCG(s, 1))
		n := 1 + r.IntN(400)
		spin, sets := r.IntN(3), r.IntN(20)
		calls := make([]atomic.Int32, n)
		var now, top atomic.Int32
		var l *Loop
		l = tunedLoop(n, 1, largest, func(_ context.Context, i int) error {
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
				(*tuned)(l).Set(1 + i%largest)
			}
			now.Add(-1)
			return nil
		})
		if r.IntN(2) == 0 {
			l.tune()
		}
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
		if r := l.running.Load(); r != 0 {
			t.Fatalf("-stint.seed=%d: %d workers are counted after the end", s, r)
		}
	}
}

// A smaller limit is reached as the workers end what they have in hand; the caller
// stays.
func TestTunedLoopShrinks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var now atomic.Int32
		l := tunedLoop(40, 1, 8, func(context.Context, int) error {
			now.Add(1)
			time.Sleep(time.Second)
			now.Add(-1)
			return nil
		})
		ended := make(chan struct{})
		go func() { l.Run(); close(ended) }()
		for _, c := range []struct{ set, want int }{{0, 8}, {2, 2}, {5, 5}, {1, 1}} {
			if c.set > 0 {
				(*tuned)(l).Set(c.set)
			}
			time.Sleep(1100 * time.Millisecond)
			if got := int(now.Load()); got != c.want {
				t.Errorf("limit %d: %d run, want %d", c.set, got, c.want)
			}
			l.tune() // from now on workers look at it
		}
		l.Stop()
		<-ended
	})
}

// After the caller waits for the end, no tuner is made and none starts a helper.
func TestTunerEndsWithItsLoop(t *testing.T) {
	l := tunedLoop(1, 1, 8, func(context.Context, int) error { return nil })
	l.Run()
	if l.tune() != nil {
		t.Error("a tuner was made after the end")
	}
	l.press()
	l.Overload()
	if l.tuner.Load() != nil || l.running.Load() != 0 {
		t.Errorf("tuner %v, %d workers", l.tuner.Load(), l.running.Load())
	}
}

// A loop that computes makes no tuner, and one that waits does when all places are
// taken.
func TestTunerIsMadeWhenNeeded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, c := range []struct {
			n    int
			wait time.Duration
			want bool
		}{{10_000, 0, false}, {5, time.Second, false}, {100, time.Second, true}} {
			l := tunedLoop(c.n, 1, 256, func(context.Context, int) error { time.Sleep(c.wait); return nil })
			l.Auto.Burst = 3 * (l.Procs + 8)
			l.Run()
			if got := l.tuner.Load() != nil; got != c.want {
				t.Errorf("%d items of %v: a tuner: %v, want %v", c.n, c.wait, got, c.want)
			}
		}
	})
}

// Between the caller that has found nothing and a helper that gives back its span
// and leaves, because the limit is smaller, one of them goes on: whoever comes second.
func TestShrinkAgainstTheEnd(t *testing.T) {
	for _, callerFirst := range []bool{true, false} {
		l := tunedLoop(64, 1, 2, func(context.Context, int) error { return nil })
		l.Procs, l.paced, l.epoch = 2, true, time.Now()
		l.tune()
		l.halt.Store(0) // spans, as if the limit had not been reached before
		l.running.Store(2)
		l.most.Store(1)
		h := new(worker)
		h.init(l, l.Context)
		h.calls, h.every = 0, 1<<30
		h.take()
		h.claimAll(t)
		ended := callerFirst && l.done()
		stays := h.fits()
		if !callerFirst {
			ended = l.done()
		}
		if ended != stays {
			t.Errorf("caller first: %v: it ended: %v, the helper stays: %v", callerFirst, ended, stays)
		}
		if l.left() == 0 {
			t.Error("nothing was given back")
		}
	}
}

// claimAll makes all that is left of the loop the span of w.
func (w *worker) claimAll(t *testing.T) {
	l := w.loop
	l.mu.Lock()
	defer l.mu.Unlock()
	if !w.sit() {
		t.Fatal("no seat")
	}
	n := l.unclaimed()
	lo := int(l.next.Add(uint64(n))) - n
	w.width = n
	l.deep++
	w.seat.word.Store(pack(lo+n, 0))
	w.set(lo, n)
}
