package loop

import (
	"context"
	"errors"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stint-go/stint/internal/limit"
)

// What a look at the clock makes of the items since the one before. The cost grows
// at once and shrinks to an eighth; no more rides on it than four times what it was
// measured from.
func TestLearn(t *testing.T) {
	for _, c := range []struct {
		cost   int64 // before, in picoseconds
		calls  int
		passed time.Duration
		every  int // before, where it matters
		want   pace
	}{
		{0, 1, 2, 1, pace{cost: 2001, width: 4, every: 4}},
		{0, 30, 60, 1, pace{cost: 2001, width: 120, every: 120}},
		{0, 1000, 2000, 1, pace{cost: 2001, width: maxWidth, every: 3998}},
		{0, 1000, 100_000, 1, pace{cost: 100_001, width: 9, every: 79}},
		{0, 10, 500_000, 1, pace{cost: 50_000_001, width: 1, every: few}},
		{2001, 10, 500_000, 1, pace{cost: 50_000_001, width: 1, every: few}},
		{1_600_000, 1000, 100_000, 1, pace{cost: 200_000, width: 5, every: 40}},
		{0, 7, 0, 1, pace{width: 1, every: 2, calls: 7}},
		{0, 7, 0, 5000, pace{width: 1, every: 6000, calls: 7}},
	} {
		synctest.Test(t, func(t *testing.T) {
			l := &Loop{N: 100_000, Context: context.Background(), Procs: 2, Limit: 2, paced: true, epoch: time.Now()}
			w := new(worker)
			w.init(l, l.Context)
			w.cost, w.calls, w.every, w.seatless = c.cost, c.calls, c.every, true
			time.Sleep(c.passed)
			w.learn()
			c.want.read = c.passed
			if w.pace != c.want {
				t.Errorf("%d calls in %v, %d before: %+v, want %+v", c.calls, c.passed, c.cost, w.pace, c.want)
			}
			if w.seatless != (c.passed == 0) {
				t.Errorf("after %v it looks for a seat: %v", c.passed, !w.seatless)
			}
			next := new(worker)
			next.init(l, l.Context)
			if next.cost != c.want.cost {
				t.Errorf("the next worker begins with %d, want %d", next.cost, c.want.cost)
			}
		})
	}
}

func TestChunk(t *testing.T) {
	for _, c := range []struct {
		pace
		seatless bool
		want     int
	}{
		{pace{}, false, 1}, {pace{cost: 1}, false, maxLength}, {pace{cost: 1}, true, 1},
		{pace{cost: 2_000_000}, false, 25}, {pace{cost: 60_000_000}, false, 1},
	} {
		if w := (&worker{pace: c.pace, seatless: c.seatless}); w.chunk() != c.want {
			t.Errorf("cost %d, without a seat %v: %d, want %d", c.cost, c.seatless, w.chunk(), c.want)
		}
	}
}

// Spans are wide where no item waits: up to a limit of the number of processors.
func TestWidest(t *testing.T) {
	for _, c := range []struct{ limit, procs, want int }{{1, 2, maxWidth}, {2, 2, maxWidth}, {3, 2, 1}} {
		own, shared := &Loop{Limit: c.limit, Procs: c.procs}, &Loop{Limit: 4 - c.limit, Procs: c.procs, lim: limit.New(c.limit)}
		if own.widest() != c.want || shared.widest() != c.want {
			t.Errorf("%+v: %d, and %d under a limiter", c, own.widest(), shared.widest())
		}
	}
}

// Loops of a few items, of no more than the limit, and of more than a seat can name are
// not measured.
func TestPaced(t *testing.T) {
	for _, c := range []struct {
		n, limit int
		want     bool
	}{{few, 1, false}, {few + 1, 1, true}, {2 * few, 2 * few, false}, {2*few + 1, 2 * few, true}} {
		for _, kind := range kinds {
			b := newBench(kind, c.limit)
			l := b.loop(c.n, func(context.Context, int) error { return nil })
			if l.Run(); l.paced != c.want {
				t.Errorf("%s, %d items, limit %d: measured %v", kind, c.n, c.limit, l.paced)
			}
			b.end(t)
		}
	}
	for n, want := range []bool{false, false, true} {
		l := compute(7, 7+n, 2, 0, 0, func(int) {})
		if l.Run(); l.paced != want {
			t.Errorf("%d items that compute: measured %v", n, l.paced)
		}
	}
	for most := uint64(maxIndex); most <= maxIndex+1 && strconv.IntSize == 64; most++ {
		l := newBench("solo", 1).loop(int(most), func(context.Context, int) error { return errors.New("boom") })
		if l.Run(); l.paced != (most == maxIndex) {
			t.Errorf("%d items: measured %v", most, l.paced)
		}
	}
}
