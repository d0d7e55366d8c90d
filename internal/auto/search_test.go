package auto

import (
	"math"
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
	phases []Phase
	notes  []string
}

func newFedSearch(config Config) *fedSearch {
	d := &fedSearch{search: search{Config: config}}
	d.note = func(_ time.Duration, _ float64, reason string) { d.notes = append(d.notes, reason) }
	d.begin()
	return d
}

// slotted returns the time between two finished tasks of a server with k slots, 5 ms
// each.
func slotted(k int) func(limit int) time.Duration {
	return func(limit int) time.Duration { return 5 * time.Millisecond / time.Duration(min(k, limit)) }
}

// serve finishes n tasks.
func (d *fedSearch) serve(n int, gap func(limit int) time.Duration) {
	for range n {
		g := gap(d.limit)
		d.now += g
		d.finished(d.now, 1, g*time.Duration(d.limit), d.limit, true)
		d.seen()
	}
}

// stall checks for a stall as the tick does, and reports whether the limit rose.
func (d *fedSearch) stall(now time.Duration) bool { return d.overdue(now) && d.stalled(now) }

// seen notes the limit and the phase if they have changed.
func (d *fedSearch) seen() {
	if n := len(d.limits); n == 0 || d.limits[n-1] != d.limit {
		d.limits = append(d.limits, d.limit)
	}
	if n := len(d.phases); n == 0 || d.phases[n-1] != d.phase {
		d.phases = append(d.phases, d.phase)
	}
}

// until serves up to n tasks until ok.
func (d *fedSearch) until(t *testing.T, n int, gap func(limit int) time.Duration, what string, ok func() bool) {
	t.Helper()
	for range n {
		if ok() {
			return
		}
		d.serve(1, gap)
	}
	t.Fatalf("after %d tasks, phase %d, limit %d: not %s; %q", n, d.phase, d.limit, what, d.notes)
}

// held returns a search that holds n, the limit of n slots, for many windows.
func held(n int) *fedSearch {
	d := newFedSearch(usual)
	r := reading{tasks: 1000, time: 1000 * float64(slotted(n)(n)), running: float64(n)}
	d.started, d.limit = true, n
	d.pause = maxPause
	d.holdAt(d.now, r, "reached")
	d.hold = maxPause
	return d
}

func TestStart(t *testing.T) {
	for _, s := range []struct{ min, max, burst, procs, want int }{
		{1, 256, 36, 2, 12},
		{1, 256, 36, 64, 36},
		{1, 256, 36, 20, 21},
		{1, 256, 1, 8, 1},
		{20, 256, 36, 2, 20},
		{1, 5, 36, 2, 5},
		{7, 7, 36, 2, 7},
		{50, 256, 6, 2, 50},
	} {
		if got := (Config{Min: s.min, Max: s.max, Burst: s.burst, Procs: s.procs}).Start(); got != s.want {
			t.Errorf("%+v: starts with %d", s, got)
		}
	}
}

// TestLimitRisesByThreeATask raises the limit only as tasks finish.
func TestLimitRisesByThreeATask(t *testing.T) {
	d := newFedSearch(usual)
	for n := 12; n < 36; n += permitsPerTask {
		if d.limit != n || d.phase != SlowStart {
			t.Fatalf("limit %d in phase %d, want %d", d.limit, d.phase, n)
		}
		d.serve(1, slotted(1000))
	}
	if d.limit != 36 {
		t.Errorf("limit %d at the end of the first round, want Burst", d.limit)
	}
}

func TestLimitRisesWithTheThroughput(t *testing.T) {
	d := newFedSearch(usual)
	d.until(t, 2000, slotted(1000), "at the maximum", func() bool { return d.phase == Holding })
	if d.limit != 256 || !slices.IsSorted(d.limits) {
		t.Errorf("limits %v", d.limits)
	}
	if last := d.notes[len(d.notes)-1]; !strings.Contains(last, "throughput rose") || !strings.Contains(last, "the maximum is reached") {
		t.Errorf("reason: %s", last)
	}
}

func TestSlowStartEndsWhereThroughputStays(t *testing.T) {
	d := newFedSearch(usual)
	d.until(t, 2000, slotted(20), "at the end of slow start", func() bool { return d.phase != SlowStart })
	if d.phase != Probing || slices.Max(d.limits) > 144 {
		t.Errorf("phase %d, limits %v", d.phase, d.limits)
	}
	if last := d.notes[len(d.notes)-1]; !strings.Contains(last, "throughput did not rise") {
		t.Errorf("reason: %s", last)
	}
	d.until(t, 3000, slotted(20), "near 20", func() bool { return d.phase == Holding && d.limit >= 18 && d.limit <= 28 })
}

// TestSlowRoundEndsSlowStart has tasks take longer once many run: the limit stays until
// the round is judged.
func TestSlowRoundEndsSlowStart(t *testing.T) {
	d := newFedSearch(usual)
	n := 0
	uneven := func(int) time.Duration { // too uneven for a jump
		n++
		return time.Duration(1+n%4*10) * 10 * time.Microsecond
	}
	d.until(t, 200, uneven, "in the second round", func() bool { return d.start.prior.tasks > 0 })
	d.until(t, 200, func(int) time.Duration { return 50 * time.Millisecond }, "at the end of slow start", func() bool { return d.phase != SlowStart })
	if top := slices.Max(d.limits); top > 72 {
		t.Errorf("up to %d in the second round", top)
	}
}

// TestSlowStartThatHarmsIsUndoneFurther has a server that is slower the more tasks run.
func TestSlowStartThatHarmsIsUndoneFurther(t *testing.T) {
	d := newFedSearch(usual)
	worse := func(limit int) time.Duration { return time.Duration(limit*limit) * 10 * time.Microsecond }
	d.until(t, 2000, worse, "at the end of slow start", func() bool { return d.phase != SlowStart })
	if half := d.start.from / 2; d.limit > half {
		t.Errorf("limit %d, want half of %d at most", d.limit, d.start.from)
	}
	if last := d.notes[len(d.notes)-1]; !strings.Contains(last, "tasks finish more slowly the more run") {
		t.Errorf("reason: %s", last)
	}
	d.until(t, 3000, worse, "at 1", func() bool { return d.phase == Holding && d.limit == 1 })
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

func TestHoldProbesUpAndIsAccepted(t *testing.T) {
	d := held(20)
	d.until(t, 5000, slotted(1000), "at more", func() bool { return d.held > 20 })
	if !slices.ContainsFunc(d.notes, func(s string) bool { return strings.Contains(s, "a higher limit is better") }) {
		t.Errorf("%q", d.notes)
	}
	d.until(t, 5000, slotted(1000), "at the maximum", func() bool { return d.held == 256 })
}

func TestHoldProbesDownAndIsAccepted(t *testing.T) {
	d := held(40)
	d.known.put(40, reading{tasks: 1000, time: 1000 * float64(slotted(10)(40))})
	d.until(t, 5000, slotted(10), "at less", func() bool { return d.held < 40 })
	if !slices.ContainsFunc(d.notes, func(s string) bool { return strings.Contains(s, "a lower limit is as good") }) {
		t.Errorf("%q", d.notes)
	}
	d.until(t, 5000, slotted(10), "near 10", func() bool { return d.held >= 9 && d.held < 15 })
}

// TestProbesThatFailGoBack has the right limit: probes in both directions fail, and are
// made less and less often. They are not noted.
func TestProbesThatFailGoBack(t *testing.T) {
	d := held(20)
	d.pause = 2
	var pauses []int
	down, up := 0, 0
	told := len(d.notes)
	for range 40000 {
		before, phase := d.pause, d.phase
		d.serve(1, slotted(20))
		if phase != Probing && d.phase == Probing {
			if d.limit < 20 {
				down++
			} else {
				up++
			}
		}
		if d.held != 20 {
			t.Fatalf("limit %d is accepted; %q", d.held, d.notes[len(d.notes)-1])
		}
		if d.pause != before {
			pauses = append(pauses, d.pause)
			if down != up {
				t.Errorf("pause of %d windows after %d probes down and %d up", d.pause, down, up)
			}
		}
	}
	if !slices.Equal(pauses, []int{4, 8, maxPause}) {
		t.Errorf("pauses of %v windows", pauses)
	}
	if down == 0 || up == 0 || len(d.notes) != told {
		t.Errorf("%d probes down, %d up, %q", down, up, d.notes[told:])
	}
}

// TestChangedThroughputIsProbed has the server lose or gain slots while the search
// pauses.
func TestChangedThroughputIsProbed(t *testing.T) {
	d := held(20)
	d.serve(50, slotted(20))
	d.until(t, 200, slotted(5), "probing", func() bool { return d.phase == Probing })
	d.until(t, 5000, slotted(5), "near 5", func() bool { return d.held <= 8 })
	d.until(t, 20000, slotted(40), "near 40", func() bool { return d.held >= 36 })
}

// TestWindowSurvivesFreePermits has calls of 70 tasks: in the last part of each, and in the
// second after it, permits are free. Only the time in which all are held counts.
func TestWindowSurvivesFreePermits(t *testing.T) {
	d := held(40)
	d.known = d.known[:0]
	d.hold = 1000
	for range 50 {
		d.serve(30, slotted(40))
		for running := 39; running >= 0; running-- {
			d.now += 5 * time.Millisecond / time.Duration(running+1)
			d.finished(d.now, 1, 5*time.Millisecond, running, false)
		}
		d.now += time.Second
		d.heldSince = d.now
	}
	r := d.known.at(40)
	if r.tasks < 160 || d.phase != Holding {
		t.Fatalf("phase %v, %v tasks known", d.phase, r.tasks)
	}
	if x, want := r.rate(), 1/float64(slotted(40)(40)); x < want/1.5 || x > want*1.1 {
		t.Errorf("%.0f tasks a second, want %.0f", x*1e9, want*1e9)
	}
}

// TestCallsOfRandomTasks has calls of 100 tasks that take 10 ms on average, and pauses between
// them: the tasks finish one by one, and permits are free at the end of each call. The reading is
// that of a long call, within a tenth, and a probe upwards ends with the higher limit.
func TestCallsOfRandomTasks(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	d := held(20)
	d.known = d.known[:0]
	d.hold = math.MaxInt
	call := func() {
		d.heldSince = d.now
		idle := 0
		for left := 100; left > 0; left-- {
			running := min(left, d.limit)
			d.now += time.Duration(r.ExpFloat64() * float64(10*time.Millisecond) / float64(running))
			if idle++; left > running {
				idle = 0
			}
			d.finished(d.now, 1, 10*time.Millisecond, running, idle == 0 || !d.free && idle <= running)
		}
		d.now += 50 * time.Millisecond
	}
	for range 100 {
		call()
	}
	if x := d.known.at(20).rate() * 1e6; x < 1.8 || x > 2.2 {
		t.Errorf("%.3f tasks a millisecond, want 2", x)
	}
	d.up = true
	d.try(d.now, reading{}, 40, "")
	for range 100 {
		if d.phase == Probing && d.held == 20 {
			call()
		}
	}
	if x := d.known.at(40).rate() * 1e6; d.held != 40 || x < 3.2 || x > 4.4 {
		t.Errorf("%d is held, %.3f tasks a millisecond at 40, want 4; %q", d.held, x, d.notes)
	}
}

// TestHalfAGroupIsNoProbe tries 54 instead of 64. Tasks take 100 ms and start one a millisecond:
// 54 finish in 54 ms, then none for 46 ms. The probe begins anywhere in that.
func TestHalfAGroupIsNoProbe(t *testing.T) {
	for began := range 54 {
		d := held(64)
		d.known.put(64, reading{tasks: 128, time: 200e6, latency: 100e6})
		d.up = false
		d.try(d.now, reading{}, 54, "")
		start := d.now
		for i := began; d.phase == Probing && i < 54*20; i++ {
			d.now = start + time.Duration(i/54)*100*time.Millisecond + time.Duration(i%54)*time.Millisecond
			d.finished(d.now, 1, 100*time.Millisecond, 54, true)
		}
		if d.held != 64 || d.phase != Holding {
			t.Errorf("from %d ms on: 54 is held instead of 64; phase %v, %q", began, d.phase, d.notes)
		}
	}
}

// TestFreePermitsChangeNothing finishes tasks while permits are free.
func TestFreePermitsChangeNothing(t *testing.T) {
	for _, phase := range []Phase{SlowStart, Holding, Probing} {
		for _, waiting := range []bool{false, true} {
			d := newFedSearch(usual)
			if phase != SlowStart {
				d = held(40)
			}
			if phase == Probing {
				d.hold = 1
				d.until(t, 500, slotted(40), "probing", func() bool { return d.phase == Probing })
				d.until(t, 500, slotted(40), "settled", func() bool { return d.settling == 0 })
			}
			before := d.limit
			for range 10000 {
				d.now += time.Millisecond
				d.finished(d.now, 1, time.Millisecond, d.limit/2, waiting)
			}
			if d.limit != before || d.phase != phase {
				t.Errorf("phase %d, waiting %v: limit from %d to %d, phase %d", phase, waiting, before, d.limit, d.phase)
			}
		}
	}
}

func TestStalledLetsMoreBegin(t *testing.T) {
	d := newFedSearch(usual)
	if d.stall(stallTime-1) || d.limit != 12 {
		t.Fatalf("stalled before %v: limit %d", stallTime, d.limit)
	}
	var limits []int
	for i := 1; d.limit < d.stallLimit(); i++ {
		if !d.stall(time.Duration(i) * stallTime) {
			t.Fatalf("not stalled at limit %d", d.limit)
		}
		limits = append(limits, d.limit)
	}
	if limits[0] != 36 || limits[1] != 40 || !slices.IsSorted(limits) || d.limit != stallBurstFactor*36 {
		t.Errorf("limits %v", limits)
	}
	if d.stall(time.Hour) || d.limit != stallBurstFactor*36 {
		t.Errorf("limit %d, want no more than %d", d.limit, stallBurstFactor*36)
	}
}

func TestStalledKeepsToTheMaximum(t *testing.T) {
	d := newFedSearch(Config{Min: 1, Max: 40, Burst: 36, Procs: 2})
	for i := range 100 {
		d.stall(time.Duration(i+1) * time.Second)
	}
	if d.limit != 40 || d.stallLimit() != 40 {
		t.Errorf("limit %d, at most %d", d.limit, d.stallLimit())
	}
	d = held(200) // above 4 times Burst by measurement
	if d.stall(time.Hour) || d.limit != 200 {
		t.Errorf("limit %d", d.limit)
	}
}

// TestLongTasksAreNoStall has tasks of 10 s: a stall takes twice as long.
func TestLongTasksAreNoStall(t *testing.T) {
	d := held(20)
	d.now += time.Second
	d.finished(d.now, 1, 10*time.Second, 20, true)
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
	for d.limit < d.stallLimit() {
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

// TestTotalRefusal has a server refuse everything: the limit falls to the minimum,
// generation by generation, and no stall is noted.
func TestTotalRefusal(t *testing.T) {
	d := held(100)
	d.refuse(900)
	if d.limit != d.Min || d.stall(d.now+stallTime/2) {
		t.Errorf("limit %d", d.limit)
	}
	if slices.ContainsFunc(d.notes, func(s string) bool { return strings.Contains(s, "for some time") }) {
		t.Errorf("%q", d.notes)
	}
	d.refuse(100_000) // for 100 s
	began := d.now
	d.until(t, 10_000, slotted(50), "half of what is right", func() bool { return d.limit >= 25 })
	if took := d.now - began; took > maxCeilingTime+time.Second {
		t.Errorf("%v after the end of the outage it is back", took)
	}
}

// TestOutageOfSlowErrors has each refusal take longer than a ceiling holds: the limit stays at the
// minimum until a task succeeds, and then rises as after one outage.
func TestOutageOfSlowErrors(t *testing.T) {
	d := held(100)
	for range 500 {
		d.refuse(1)
		if d.limit == d.Min {
			d.now += 2 * minCeilingTime
		}
	}
	if d.limit != d.Min || d.ceiling == 0 || d.ceilingTime != minCeilingTime {
		t.Errorf("limit %d, ceiling %d for %v", d.limit, d.ceiling, d.ceilingTime)
	}
	began := d.now
	d.until(t, 10_000, slotted(50), "half of what is right", func() bool { return d.limit >= 25 })
	if took := d.now - began; took > 2*minCeilingTime {
		t.Errorf("%v after the end of the outage it is back", took)
	}
}

// TestRareOverloadsAreIgnored has one task of a hundred overloaded, whatever the limit.
func TestRareOverloadsAreIgnored(t *testing.T) {
	d := held(100)
	for range 1000 {
		d.refuse(1)
		d.serve(99, slotted(100))
		if d.held > 0 && d.held < 60 {
			t.Fatalf("limit %d, %q", d.limit, d.notes[len(d.notes)-1])
		}
	}
}

// TestCeilingIsLifted has the limit rise again after an overload: below the ceiling
// first, and beyond when the ceiling is lifted.
func TestCeilingIsLifted(t *testing.T) {
	d := held(100)
	d.refuse(6)
	began := d.now
	for d.ceiling > 0 {
		if d.limit > 99 {
			t.Fatalf("limit %d below the ceiling", d.limit)
		}
		d.serve(1, slotted(1000))
	}
	if took := d.now - began; took < minCeilingTime/2 {
		t.Errorf("the ceiling held for %v", took)
	}
	d.until(t, 100000, slotted(1000), "beyond", func() bool { return d.limit > 100 })
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
		d.finished(d.now, 1+r.IntN(3), took, running, r.IntN(30) > 0)
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

// TestUnknownThroughputIsNotReported has readings of tasks of unknown latency: they may
// have started long before.
func TestUnknownThroughputIsNotReported(t *testing.T) {
	a := reading{tasks: 30, time: float64(time.Second), running: 3}
	b := reading{tasks: 60, time: float64(time.Second), running: 6, latency: 1e7}
	for _, c := range []struct {
		a, b reading
		want string
	}{
		{a, a, "so"}, {b, a, "so"}, {a, b, "so"}, {b, b, "so: 60/s at 6, 60/s at 6 (±19 %)"},
	} {
		if got := compared("so", c.a, c.b); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
	if a.reported() != 0 || math.Abs(b.reported()-60) > 1e-9 || (reading{}).reported() != 0 {
		t.Errorf("told %v, %v and %v", a.reported(), b.reported(), reading{}.reported())
	}
}

// TestInterruptedProbeIsNoted has a probe end without a conclusion: if the probe was
// noted, its end is. The last change has the limit.
func TestInterruptedProbeIsNoted(t *testing.T) {
	for _, told := range []string{"", "throughput fell"} {
		s := &search{Config: usual}
		s.begin()
		limits := []int{s.limit}
		s.note = func(time.Duration, float64, string) { limits = append(limits, s.limit) }
		s.held, s.up = 10, true
		s.try(0, reading{}, 20, told)
		s.interrupt(0)
		if want := []int{12, 20, 10}; told != "" && !slices.Equal(limits, want) || told == "" && len(limits) != 1 {
			t.Errorf("told %q: changes to %v", told, limits)
		}
		if s.limit != 10 || s.phase != Holding {
			t.Errorf("limit %d in phase %v", s.limit, s.phase)
		}
	}
}

// TestProbeDownSurvives has a probe of a lower limit go on when tasks wait again.
func TestProbeDownSurvives(t *testing.T) {
	s := &search{Config: usual}
	s.begin()
	s.held = 24
	s.try(0, reading{}, 12, "")
	if s.interrupt(0); s.limit != 12 || s.phase != Probing {
		t.Errorf("limit %d in phase %v", s.limit, s.phase)
	}
}

// TestExceededLimitIsNotLowered has tasks get permits beyond the limit while a lower limit is
// tried, a higher one, or none: only the first ends.
func TestExceededLimitIsNotLowered(t *testing.T) {
	for _, tried := range []int{6, 12, 24, 48} {
		s := &search{Config: usual}
		s.begin()
		s.held = 24
		s.try(0, reading{}, tried, "")
		want := max(tried, 24)
		if changed := s.exceeded(time.Second); changed != (tried < 24) || s.limit != want || s.last != time.Second {
			t.Errorf("from %d: changed %v to %d, want %d; last %v", tried, changed, s.limit, want, s.last)
		}
		if (s.phase == Holding) != (tried < 24) {
			t.Errorf("from %d: phase %v", tried, s.phase)
		}
	}
}

// TestStallExceedsTheCeiling has no task finish after an overload: tasks may wait for
// each other, so the limit exceeds the ceiling.
func TestStallExceedsTheCeiling(t *testing.T) {
	s := &search{Config: usual}
	s.begin()
	s.finished(0, 1, time.Millisecond, s.limit, true)
	s.ceilingTime, s.retryAt = maxCeilingTime, maxCeilingTime
	over := s.limit
	s.setCeiling(0, over)
	s.backOff(0, "overload")
	s.proven = over
	for now := stallTime; now < maxCeilingTime; now += stallTime {
		s.stalled(now)
	}
	if s.limit <= over {
		t.Errorf("limit %d, want more than %d", s.limit, over)
	}
}
