package loop

import (
	"context"
	"errors"
	"strconv"
	"testing"
	"testing/synctest"
	"time"
)

// What a look at the clock tells of the items since the last look. The cost may rise to
// any value, but not fall below an eighth; it serves at most four times the items
// measured.
func TestMeasure(t *testing.T) {
	for _, c := range []struct {
		cost   int64 // before, in picoseconds
		calls  int
		passed time.Duration
		every  int // before, where it matters
		want   grain
	}{
		{0, 1, 2, 1, grain{cost: 2001, size: 4, every: 4}},
		{0, 30, 60, 1, grain{cost: 2001, size: 120, every: 120}},
		{0, 1000, 2000, 1, grain{cost: 2001, size: 4000, every: 3998}},
		{0, 1000, 100_000, 1, grain{cost: 100_001, size: 159, every: 79}},
		{0, 10, 500_000, 1, grain{cost: 50_000_001, size: 1, every: minTimedItems}},
		{2001, 10, 500_000, 1, grain{cost: 50_000_001, size: 1, every: minTimedItems}},
		{1_600_000, 1000, 100_000, 1, grain{cost: 200_000, size: 80, every: 40}},
		{0, 7, 0, 1, grain{size: 1, every: 2, calls: 7}},
		{0, 7, 0, 5000, grain{size: 1, every: 6000, calls: 7}},
	} {
		synctest.Test(t, func(t *testing.T) {
			l := compute(0, 100_000, 2, 0, 0, nil)
			l.init()
			w := new(worker)
			w.init(l, l.Context)
			w.cost, w.calls, w.every, w.single = c.cost, c.calls, c.every, true
			time.Sleep(c.passed)
			w.measure()
			c.want.read = c.passed
			if w.grain != c.want {
				t.Errorf("%d calls in %v, %d before: %+v, want %+v", c.calls, c.passed, c.cost, w.grain, c.want)
			}
			if w.single != (c.passed == 0) {
				t.Errorf("after %v it looks for a range: %v", c.passed, !w.single)
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
		grain
		single bool
		want   int
	}{
		{grain{}, false, 1}, {grain{cost: 1}, false, maxRange}, {grain{cost: 1}, true, 1},
		{grain{cost: 2_000_000}, false, 25}, {grain{cost: 60_000_000}, false, 1},
	} {
		w := &worker{grain: c.grain, single: c.single, loop: &Loop{Compute: true}}
		if w.chunk() != c.want {
			t.Errorf("cost %d, without a range %v: %d, want %d", c.cost, c.single, w.chunk(), c.want)
		}
		if w.loop.Compute = false; w.chunk() != 1 {
			t.Errorf("cost %d, an item may wait: %d", c.cost, w.chunk())
		}
	}
}

// Loops of few items, of no more than the limit, and of more than a range can name are
// not measured.
func TestTimed(t *testing.T) {
	for _, c := range []struct {
		n, limit int
		want     bool
	}{{minTimedItems, 1, false}, {minTimedItems + 1, 1, true}, {2 * minTimedItems, 2 * minTimedItems, false}, {2*minTimedItems + 1, 2 * minTimedItems, true}} {
		for _, kind := range kinds {
			b := newBench(kind, c.limit)
			l := b.loop(c.n, func(context.Context, int) error { return nil })
			if l.Run(); l.timed != c.want {
				t.Errorf("%s, %d items, limit %d: measured %v", kind, c.n, c.limit, l.timed)
			}
			b.end(t)
		}
	}
	for n, want := range []bool{false, false, true} {
		l := compute(7, 7+n, 2, 0, 0, func(int) {})
		if l.Run(); l.timed != want {
			t.Errorf("%d items that compute: measured %v", n, l.timed)
		}
	}
	for n := uint64(maxIndex); n <= maxIndex+1 && strconv.IntSize == 64; n++ {
		l := newBench("solo", 1).loop(int(n), func(context.Context, int) error { return errors.New("boom") })
		if l.Run(); l.timed != (n == maxIndex) {
			t.Errorf("%d items: measured %v", n, l.timed)
		}
	}
}
