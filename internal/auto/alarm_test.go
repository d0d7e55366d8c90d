package auto

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

// serveAtRandom finishes n tasks that take a random time, at a rate that depends on how many run.
// Tasks beyond the limit finish first.
func (d *fedSearch) serveAtRandom(n int, r *rand.Rand, running *int, perTask func(running int) float64) {
	for range n {
		*running = max(*running, d.limit)
		d.now += time.Duration(r.ExpFloat64() / perTask(*running) * float64(time.Millisecond))
		d.finished(d.now, 1, time.Duration(r.ExpFloat64()*float64(10*time.Millisecond)), *running, true)
		*running = max(d.limit, *running-1)
		d.seen()
	}
}

// TestAlarm has a server whose throughput falls with the number of tasks: the limit comes down
// before slow start has doubled it, and stays down.
func TestAlarm(t *testing.T) {
	early := 0
	for seed := range uint64(20) {
		d, running := newFedSearch(usual), 0
		r := rand.New(rand.NewPCG(seed, 1))
		d.serveAtRandom(400, r, &running, func(n int) float64 { return 20 / float64(n) })
		if slices.ContainsFunc(d.notes, func(s string) bool { return strings.Contains(s, "more slowly the more run") }) && slices.Max(d.limits) <= 72 {
			early++
		}
		if d.limit > 20 {
			t.Errorf("seed %d: limit %d after 400 tasks, %q", seed, d.limit, d.notes)
		}
	}
	if early < 15 {
		t.Errorf("an alarm before the second doubling in %d of 20 runs", early)
	}
}

// TestFalseAlarm raises an alarm where throughput rises with the number of tasks: the drain
// shows that it was false, and the limit reaches the maximum.
func TestFalseAlarm(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	d, running := newFedSearch(usual), 0
	perTask := func(n int) float64 { return float64(n) / 10 }
	d.serveAtRandom(40, r, &running, perTask)
	if d.phase != SlowStart {
		t.Fatalf("phase %v", d.phase)
	}
	before := d.limit
	d.alarm(d.now)
	if !d.alarmed || d.limit >= before/2 {
		t.Fatalf("alarmed %v, limit %d of %d", d.alarmed, d.limit, before)
	}
	d.serveAtRandom(before, r, &running, perTask)
	if d.alarmed || d.phase != SlowStart || d.start.tried == 0 {
		t.Errorf("alarmed %v, phase %v", d.alarmed, d.phase)
	}
	d.serveAtRandom(3000, r, &running, perTask)
	if d.held != usual.Max {
		t.Errorf("the limit is %d, %q", d.held, d.notes)
	}
}

// TestAlarmSeemedFalse has throughput fall when slow start continues after an alarm: the limit
// that was tried is held if it was measured, and tried again otherwise. What was measured before
// the crowd had formed is forgotten.
func TestAlarmSeemedFalse(t *testing.T) {
	const tried = 5
	for _, running := range []float64{tried, 40} {
		d := newFedSearch(usual)
		d.started, d.limit, d.held = true, tried, 30
		d.known.put(28, reading{tasks: 14, time: 1e6})
		d.resume(d.now, reading{tasks: 60, time: 20e6, running: running}, tried)
		if d.phase != SlowStart || !d.start.resumed() || d.start.top != 60 {
			t.Fatalf("%v, resumed %v, up to %d", d.phase, d.start.resumed(), d.start.top)
		}
		d.limit = d.start.top
		d.endSlowStart(d.now, reading{tasks: 60, time: 100e6, running: 60}, true)
		held, phase := tried, Holding
		if running > tried {
			held, phase = int(running), Probing
		}
		if d.held != held || d.phase != phase || d.limit != tried || d.known.at(28).tasks != 0 {
			t.Errorf("%v ran: %v, limit %d, held %d, known %v", running, d.phase, d.limit, d.held, d.known)
		}
	}
}

// TestAcceptedAlarmForgets accepts the limit that was tried after an alarm: what was measured
// before it, when the crowd had not formed, does not speak against a higher one later.
func TestAcceptedAlarmForgets(t *testing.T) {
	d := newFedSearch(usual)
	d.serve(20, slotted(3))
	d.alarm(d.now)
	before := d.held
	d.until(t, 1000, slotted(3), "accepted", func() bool { return !d.alarmed })
	if d.held == before || len(d.known) != 1 {
		t.Errorf("%d is held after %d, known %v, %q", d.held, before, d.known, d.notes)
	}
}

// TestJump has tasks that all take as long, however many run: the limit rises eightfold, but only
// from 32 on. With a small Burst, a few may fit where the server refuses more.
func TestJump(t *testing.T) {
	for _, burst := range []int{4, 42} {
		d := newFedSearch(Config{Min: 1, Max: 256, Burst: burst, Procs: 1})
		jumped := 0 // the limit from which it rose by more than a factor of two at once
		for d.limit < 256 && len(d.limits) < 1000 {
			d.now += 20 * time.Millisecond
			for from, left := d.limit, d.limit; left > 0; left-- {
				before := d.limit
				d.finished(d.now, 1, 20*time.Millisecond, from, true)
				if d.limit > 2*before && jumped == 0 {
					jumped = before
				}
				d.seen()
			}
		}
		if d.limit != 256 || jumped+permitsPerTask < jumpLimit {
			t.Errorf("Burst(%d): from %d to %d at once, %v", burst, jumped, d.limit, d.limits)
		}
	}
}

// TestLateTasks has tasks that take about as long, and then some that take longer than a queue
// explains. One alone is no alarm.
func TestLateTasks(t *testing.T) {
	for _, late := range []int{1, lateTasks - 1, lateTasks} {
		d := newFedSearch(usual)
		serve := func(n int, took time.Duration) {
			d.now += took
			for range n {
				d.now += time.Millisecond
				d.finished(d.now, 1, took, d.limit, true)
			}
		}
		serve(8, 10*time.Millisecond)
		serve(late, time.Second)
		serve(1, 2*time.Second) // after a pause
		if d.alarmed != (late >= lateTasks) {
			t.Errorf("%d late tasks: alarmed %v, %q", late, d.alarmed, d.notes)
		}
	}
}

// TestHarmEndsAProbe has a server that collapses above 20 tasks: a probe of 40 ends before half
// of the tasks that it has to settle for have finished.
func TestHarmEndsAProbe(t *testing.T) {
	d := held(20)
	d.up, d.steps, d.hold = true, 2, 1
	collapse := func(limit int) time.Duration {
		if limit > 20 {
			return 50 * slotted(20)(20)
		}
		return slotted(20)(limit)
	}
	d.until(t, 500, collapse, "probing", func() bool { return d.phase == Probing })
	tasks := 0
	for d.phase == Probing {
		d.serve(1, collapse)
		tasks++
	}
	if tasks > 20 || d.held != 20 {
		t.Errorf("%d tasks finished during the probe; %d is held", tasks, d.held)
	}
	from := len(d.limits)
	d.serve(1000, collapse)
	if n := slices.Max(d.limits[from:]); n >= 40 {
		t.Errorf("%d is tried soon after 40 did harm", n)
	}
}

// TestFarProbes has throughput rise by a tenth for each doubling of the limit: neighbours are
// too much alike, and the limit rises all the same.
func TestFarProbes(t *testing.T) {
	d := held(8)
	d.known.put(8, reading{tasks: 1000, time: 1000 * float64(risingSlowly(8))})
	d.until(t, 50_000, risingSlowly, "at 64 or more", func() bool { return d.held >= 64 })
}

// risingSlowly returns the time between two tasks of a server whose throughput is n^0.14.
func risingSlowly(n int) time.Duration {
	return time.Duration(float64(time.Millisecond) / math.Pow(float64(n), 0.14))
}

// TestWorse finds the nearest limit that is clearly worse, on the way to a limit or a little
// beyond.
func TestWorse(t *testing.T) {
	var known table
	for limit, rate := range map[int]float64{10: 0.5, 14: 0.98, 20: 1, 28: 0.99, 40: 0.5, 80: 0.1} {
		known.put(limit, reading{tasks: 1000, time: 1000 / rate})
	}
	for _, c := range []struct{ n, want int }{{28, 0}, {31, 40}, {40, 40}, {256, 40}, {14, 0}, {10, 10}, {5, 10}} {
		if got := known.worse(20, c.n); got != c.want {
			t.Errorf("on the way to %d: %d, want %d", c.n, got, c.want)
		}
	}
	for i := range known {
		known[i].thin(worseTasks*float64(known[i].limit) - 1)
	}
	if got := known.worse(20, 80); got != 0 {
		t.Errorf("%d was measured long ago", got)
	}
}

// TestMissingDemandIsNoHarm has tasks stop to come while a probe upwards settles: that few
// finish is not blamed on the limit that is tried.
func TestMissingDemandIsNoHarm(t *testing.T) {
	for _, gap := range []time.Duration{time.Millisecond, 5 * time.Millisecond, 20 * time.Millisecond} {
		d := held(20)
		d.up, d.hold = true, 1
		d.until(t, 500, slotted(1000), "probing", func() bool { return d.phase == Probing })
		tried := d.limit
		d.serve(6, slotted(1000))
		for range 30 {
			d.now += gap
			d.finished(d.now, 1, 5*time.Millisecond, 1, false)
		}
		if d.phase != Probing || d.known.at(tried).tasks != 0 {
			t.Errorf("a task in %v: phase %v, %v tasks known at %d", gap, d.phase, d.known.at(tried).tasks, tried)
		}
	}
}

// TestProbeThatNobodyFillsEnds has tasks wait, but no more of them run than before: CPUs are
// the bottleneck.
func TestProbeThatNobodyFillsEnds(t *testing.T) {
	d := held(8)
	d.up, d.reach, d.hold = true, far, 1
	d.until(t, 500, slotted(8), "probing", func() bool { return d.phase == Probing && d.limit > 8 })
	for range 2000 {
		g := slotted(8)(8)
		d.now += g
		d.finished(d.now, 1, 8*g, 8, true)
		if d.phase != Probing {
			break
		}
	}
	if d.phase == Probing || d.held != 8 {
		t.Errorf("phase %v, limit %d, %d is held", d.phase, d.limit, d.held)
	}
}

// TestBatchIsOneLateTask has short tasks reported together, late.
func TestBatchIsOneLateTask(t *testing.T) {
	r := slowStart{from: 14}
	r.notice(8, 8*time.Millisecond, 14, 14)
	r.notice(100, time.Second, 14, 14)
	r.notice(1, 0, 14, 14) // unknown
	r.notice(1, 10*time.Millisecond, 14, 14)
	if r.lateRow != 2 {
		t.Errorf("%d late in a row, want 2", r.lateRow)
	}
	r.notice(1, time.Millisecond, 14, 14)
	if r.lateRow != 0 || r.all.tasks != 110 {
		t.Errorf("%d late in a row of %v tasks, want none of 110", r.lateRow, r.all.tasks)
	}
}
