package auto

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// fed returns the first window that may end, nil if none may. Its tasks finish at these
// times, and took so long each.
func fed(took time.Duration, times ...time.Duration) *window {
	var w window
	w.open(0)
	for _, at := range times {
		if w.pause(at, 10) {
			return &w
		}
		w.add(at, 1, 10, took, took, true)
	}
	return nil
}

// times returns n times, a step apart.
func times(n int, step time.Duration) (out []time.Duration) {
	for i := range n {
		out = append(out, time.Duration(i+1)*step)
	}
	return out
}

func TestConstantIntervalsEndAWindow(t *testing.T) {
	w := fed(10*time.Millisecond, times(100, time.Millisecond)...)
	if w == nil {
		t.Fatal("no end of a window in 100 tasks")
	}
	if w.time < 5e6 || w.time > 7e6 {
		t.Errorf("it lasts %v ns, want half of what its tasks took", w.time)
	}
	if r := w.reading(); math.Abs(r.rate()*1e6-1) > 0.25 || r.running != 10 {
		t.Errorf("reading %+v, want 1 a ms", r)
	}
}

// TestSwarmsGiveNoInfiniteRate has tasks that finish together: the window does not end
// within a swarm.
func TestSwarmsGiveNoInfiniteRate(t *testing.T) {
	const swarm, apart = 20, 5 * time.Millisecond
	var w window
	w.open(0)
	ends := 0
	for i := range 50 {
		for j := range swarm {
			now := time.Duration(i) * apart
			if w.pause(now, swarm) {
				if j != 0 {
					t.Fatalf("a window ends after %d of a swarm", j)
				}
				if r := w.reading(); r.rate() != swarm/float64(apart) {
					t.Errorf("rate %v, want that of the swarms, %v", r.rate(), swarm/float64(apart))
				}
				ends++
				w.open(now)
			}
			w.add(now, 1, swarm, apart, apart, true)
		}
	}
	if ends < 40 {
		t.Errorf("%d windows of 50 swarms", ends)
	}
}

// TestScatteredSwarmIsNoWindow has tasks of a swarm that finish shortly after each other.
func TestScatteredSwarmIsNoWindow(t *testing.T) {
	var at []time.Duration
	for i := range 20 {
		at = append(at, 5*time.Millisecond+time.Duration(i)*time.Microsecond)
	}
	if w := fed(5*time.Millisecond, at...); w != nil {
		t.Errorf("a window of %v tasks in %v ns", w.tasks, w.time)
	}
	w := fed(5*time.Millisecond, append(at, 10*time.Millisecond)...)
	if w == nil || w.tasks != 20 || w.time != 5e6 {
		t.Errorf("with the next swarm the window is %+v", w)
	}
}

func TestNoWindowWithoutTime(t *testing.T) {
	if w := fed(0, make([]time.Duration, 100)...); w != nil {
		t.Errorf("a window without time: %+v", w)
	}
}

// shortCalls returns the reading of calls of n tasks, each with so many permits.
func shortCalls(calls, n, permits int, took func() time.Duration) reading {
	var w window
	now := time.Duration(0)
	for range calls {
		w.resume(now, 0)
		var ends []time.Duration // of the tasks that run
		of := map[time.Duration]time.Duration{}
		start := func() {
			d := took()
			for of[now+d] != 0 { // two tasks that finish together are one nanosecond apart
				d++
			}
			of[now+d] = d
			ends = append(ends, now+d)
		}
		for range permits {
			start()
		}
		for waiting, cut := n-permits, false; len(ends) > 0; {
			i := slices.Index(ends, slices.Min(ends))
			now = ends[i]
			ends = slices.Delete(ends, i, i+1)
			switch {
			case waiting > 0:
				w.pause(now, permits)
				w.add(now, 1, permits, of[now], of[now], true)
				waiting--
				start()
				continue
			case !cut:
				w.suspend()
				cut = true
			}
			w.addCut(now, 1, of[now])
		}
		now += time.Minute
	}
	return w.reading()
}

// TestCutWindowsCountShares has calls that are hardly longer than the number of permits. A window
// shows the throughput of permits that are all held, as if there were no end of a call.
func TestCutWindowsCountShares(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for name, took := range map[string]func() time.Duration{
		"alike":       func() time.Duration { return time.Second },
		"uniform":     func() time.Duration { return time.Duration((0.8 + 0.4*r.Float64()) * 1e9) },
		"exponential": func() time.Duration { return time.Duration(r.ExpFloat64()*1e9) + 1 },
	} {
		for _, c := range []struct{ n, permits int }{{20, 19}, {20, 16}, {20, 8}, {3, 2}, {50, 10}} {
			x := shortCalls(400, c.n, c.permits, took)
			if want := float64(c.permits) / 1e9; math.Abs(x.rate()/want-1) > 0.1 || math.Abs(x.running/float64(c.permits)-1) > 0.01 {
				t.Errorf("%s, calls of %d with %d permits: %.3f of their throughput, %.1f run", name, c.n, c.permits, x.rate()/want, x.running)
			}
		}
	}
}

func TestMeanIsOfTheTasksThatAreKnown(t *testing.T) {
	w := window{counts: counts{time: 1e9}}
	w.add(0, 4, 10, 8*time.Millisecond, 8*time.Millisecond, true)
	w.add(0, 100, 10, 0, 0, true)
	if w.known.mean() != 2e6 || w.tasks != 104 {
		t.Errorf("mean %v of %v tasks, want 2 ms", w.known.mean(), w.tasks)
	}
}

// TestShareOfABatch has tasks that are reported together, and of which some finished
// before the window.
func TestShareOfABatch(t *testing.T) {
	const us = time.Microsecond
	for _, c := range []struct {
		n, of int
		took  time.Duration
	}{{1, 1, 0}, {1, 1, 500 * us}, {10, 10, 0}, {10, 10, 100 * us}, {5, 10, 200 * us}, {1, 100, 100 * 100 * us}, {26, 128, 500 * us}} {
		w := window{counts: counts{time: float64(100 * us)}}
		n, took := w.share(c.of, c.took)
		if n != c.n || took != c.took*time.Duration(n)/time.Duration(c.of) {
			t.Errorf("%d of %d tasks that took %v, in %v; want %d", n, c.of, c.took, took, c.n)
		}
	}
}

// TestFeasibleIsWhatWorkersCanDo has tasks that finished in less time than they took.
func TestFeasibleIsWhatWorkersCanDo(t *testing.T) {
	for _, c := range []struct{ r, want reading }{
		{reading{100, 1000, 10, 0}, reading{100, 1000, 10, 0}},     // not known
		{reading{100, 1000, 10, 100}, reading{100, 1000, 10, 100}}, // exactly
		{reading{100, 100, 10, 100}, reading{100, 1000, 10, 100}},
		{reading{100, 2000, 10, 100}, reading{100, 2000, 10, 100}},
		{reading{1, 10, 0, 100}, reading{1, 100, 0, 100}}, // the worker that reports was running
	} {
		if got := c.r.feasible(); got != c.want {
			t.Errorf("%v: %v, want %v", c.r, got, c.want)
		}
	}
}

func TestReadingsAfterEachOther(t *testing.T) {
	a, b := reading{100, 1000, 10, 0}, reading{300, 2000, 20, 40}
	if got, want := a.merge(b), (reading{400, 3000, 20, 40}); got != want {
		t.Errorf("%v, want %v", got, want)
	}
	a.latency = 80
	if got, want := a.merge(b), (reading{400, 3000, 20, 50}); got != want {
		t.Errorf("%v, want %v", got, want)
	}
	if got := (reading{}).merge(b); got != b {
		t.Errorf("%v, want %v", got, b)
	}
}

func TestElasticity(t *testing.T) {
	a := reading{tasks: 100, time: 100, running: 10}
	for _, s := range []struct {
		b    reading
		want float64
	}{
		{reading{tasks: 200, time: 100, running: 20}, 1},
		{reading{tasks: 100, time: 100, running: 20}, 0},
		{reading{tasks: 100, time: 200, running: 20}, -1},
		{reading{tasks: 50, time: 100, running: 5}, 1},
		{reading{tasks: 100, time: 100, running: 5}, 0},
	} {
		e, se := elasticity(a, s.b)
		if math.Abs(e-s.want) > 1e-9 || se <= 0 || math.IsInf(se, 0) {
			t.Errorf("%+v: %v, error %v; want %v", s.b, e, se, s.want)
		}
	}
	if _, se := elasticity(a, reading{tasks: 10, time: 10, running: 20}); se <= 0.3 {
		t.Errorf("standard error %v of ten tasks", se)
	}
}
