package auto

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

// A fedSearch counts tasks that finish one after the other, at a rate that depends on
// the limit, with all permits held.
type fedSearch struct {
	search
	now    time.Duration
	limits []int // all there were
	notes  []string
}

func newFedSearch(config Config) *fedSearch {
	d := &fedSearch{search: search{Config: config}}
	d.note = func(_ time.Duration, _ float64, reason string) { d.notes = append(d.notes, reason) }
	d.begin()
	return d
}

// slotted returns the time between two finished tasks of a server with k slots, 5 ms each.
func slotted(k int) func(limit int) time.Duration {
	return func(limit int) time.Duration { return 5 * time.Millisecond / time.Duration(min(k, limit)) }
}

// serve finishes n tasks.
func (d *fedSearch) serve(n int, gap func(limit int) time.Duration) {
	for range n {
		running := d.within(d.limit)
		g := gap(running)
		d.now += g
		d.finished(batch{d.now, 1, g * time.Duration(running), false, running, true})
		d.seen()
	}
}

// stall checks for a stall as the tick does, and reports whether the limit rose.
func (d *fedSearch) stall(now time.Duration) bool { return d.overdue(now) && d.stalled(now) }

// seen notes the limit if it has changed.
func (d *fedSearch) seen() {
	if n := len(d.limits); n == 0 || d.limits[n-1] != d.limit {
		d.limits = append(d.limits, d.limit)
	}
}

// held returns a search that holds n, the limit of n slots, for many windows.
func held(n int) *fedSearch {
	d := newFedSearch(usual)
	r := reading{tasks: 1000, time: 1000 * float64(slotted(n)(n)), running: float64(n)}
	d.started, d.limit = true, n
	d.holdAt(d.now, r, "reached")
	return d
}

// TestSlowStartEndsAtTheCeiling has memory for 50 tasks.
func TestSlowStartEndsAtTheCeiling(t *testing.T) {
	d := newFedSearch(usual)
	d.allow = func(_, want int) (int, string) {
		if want > 50 {
			return 50, "memory"
		}
		return want, ""
	}
	d.serve(20000, slotted(1000))
	if m := slices.Max(d.limits); m != 50 || !slices.Contains(d.notes, "memory") {
		t.Errorf("up to %d, %q", m, d.notes)
	}
}

// TestHalfAGroupIsNoProbe tries 54 instead of 64. Tasks take 100 ms and start one a millisecond:
// 54 finish in 54 ms, then none for 46 ms. The probe begins anywhere in that.
func TestHalfAGroupIsNoProbe(t *testing.T) {
	for began := range 54 {
		d := held(64)
		d.known.put(64, reading{tasks: 128, time: 200e6, latency: 100e6})
		d.up = false
		d.try(d.now, 54)
		start := d.now
		for i := began; d.phase == Probing && i < 54*20; i++ {
			d.now = start + time.Duration(i/54)*100*time.Millisecond + time.Duration(i%54)*time.Millisecond
			d.finished(batch{d.now, 1, 100 * time.Millisecond, false, 54, true})
		}
		if d.held != 64 || d.phase != Holding {
			t.Errorf("from %d ms on: 54 is held instead of 64; phase %v, %q", began, d.phase, d.notes)
		}
	}
}

// TestLongTasksAreNoStall has tasks of 10 s: a stall takes twice as long.
func TestLongTasksAreNoStall(t *testing.T) {
	d := held(20)
	d.now += time.Second
	d.finished(batch{d.now, 1, 10 * time.Second, false, 20, true})
	if d.stall(d.now + 20*time.Second - 1) {
		t.Error("stalled before")
	}
	if !d.stall(d.now+20*time.Second) || d.limit != 22 {
		t.Errorf("limit %d in phase %d", d.limit, d.phase)
	}
}

// TestStallRestoresTheLimit has a server hang: the limit doubles at most, and returns to
// its old value when tasks finish again.
func TestStallRestoresTheLimit(t *testing.T) {
	d := held(20)
	d.serve(100, slotted(20))
	limit := d.limit
	for range 20 {
		d.now += time.Minute
		d.stall(d.now)
	}
	if d.limit != 2*limit {
		t.Errorf("limit %d after a hang, it was %d", d.limit, limit)
	}
	d.serve(1, slotted(20))
	if d.limit != limit || d.notes[len(d.notes)-1] != "tasks finish again" {
		t.Errorf("limit %d after that, it was %d; %q", d.limit, limit, d.notes)
	}
}

// refuse overloads n tasks, which are counted as failed afterwards.
func (d *fedSearch) refuse(n int) {
	for range n {
		d.overloaded(d.now, 0)
		d.now += time.Millisecond
		d.failed(d.now, 1, 0)
	}
}

// TestOverloadLowersOnceAGeneration has all tasks that started under the old limit fail.
func TestOverloadLowersOnceAGeneration(t *testing.T) {
	d := held(100)
	d.refuse(100)
	if d.limit != 70 || d.phase != Holding || !strings.HasPrefix(d.notes[len(d.notes)-1], "overload") {
		t.Errorf("limit %d in phase %d, %q", d.limit, d.phase, d.notes)
	}
	d.refuse(10)
	if d.limit != 49 {
		t.Errorf("limit %d, want 0.7 of 70", d.limit)
	}
}

// TestLimitIsNeverOutside calls everything in random order.
func TestLimitIsNeverOutside(t *testing.T) {
	for _, config := range []Config{
		usual,
		{Min: 7, Max: 7, Burst: 36, Procs: 2},
		{Min: 1, Max: 1, Burst: 36, Procs: 2},
		{Min: 1, Max: 256, Burst: 1, Procs: 4},
		{Min: 2, Max: 20, Burst: 500, Procs: 2},
		{Min: 30, Max: 90, Burst: 6, Procs: 1},
		{Min: 3, Max: 1 << 30, Burst: 1 << 20, Procs: 300},
	} {
		r := rand.New(rand.NewPCG(*seed, uint64(config.Max)))
		d := newFedSearch(config)
		for i := range 100_000 {
			d.random(r)
			if d.limit < config.Min || d.limit > config.Max {
				t.Fatalf("%+v: limit %d in phase %d after %d calls; -stint.seed=%d", config, d.limit, d.phase, i, *seed)
			}
		}
	}
}

// random makes a random call. The rate of tasks changes from time to time.
func (d *fedSearch) random(r *rand.Rand) {
	switch r.IntN(40) {
	case 0:
		d.now += time.Duration(r.ExpFloat64() * float64(time.Second))
		d.stall(d.now)
	case 1:
		if r.IntN(5) == 0 {
			d.overloaded(d.now, 0)
		}
	case 2:
		if r.IntN(5) == 0 {
			d.backOff(d.now, "memory is short")
		}
	default:
		k := 1 << (d.now / time.Second % 11)
		if r.IntN(8) > 0 { // otherwise at the same time as another
			d.now += time.Duration(r.ExpFloat64() * float64(slotted(k)(d.limit)))
		}
		running := d.limit
		if r.IntN(16) == 0 { // or more than may, which began before
			running = 1 + r.IntN(2*d.limit)
		}
		took := time.Duration(r.IntN(3)) * time.Millisecond
		d.finished(batch{d.now, 1 + r.IntN(3), took, false, running, r.IntN(30) > 0})
	}
}

// The throughputs in a reason are for people.
func TestReasonsAreReadable(t *testing.T) {
	for _, c := range []struct {
		rate float64 // tasks a second
		want string
	}{
		{0, "0"}, {0.0312, "0.0312"}, {1, "1"}, {3.14159, "3.14"}, {20, "20"}, {99.44, "99.4"}, {99.96, "100"},
		{100, "100"}, {999.6, "1,000"}, {44163.2, "44,163"}, {12_345_678, "12,345,678"},
	} {
		const latency = 1 // ns
		a := reading{tasks: c.rate, time: float64(time.Second), running: 1.4, latency: latency}
		b := reading{tasks: 7, time: float64(time.Second), running: 9, latency: latency}
		want := "so: " + c.want + "/s at 2, 7/s at 9"
		if c.rate == 0 {
			want = "so"
		}
		if got, _, _ := strings.Cut(compared("so", a, b), " (±"); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
