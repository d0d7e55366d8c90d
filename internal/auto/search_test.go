package auto

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

// A driven search is told of tasks that end one after the other, at a rate that
// depends on the limit, with all places taken.
type driven struct {
	search
	now    time.Duration
	limits []int // all there were
	phases []Phase
	notes  []string
}

func drive(config Config) *driven {
	d := &driven{search: search{Config: config}}
	d.note = func(_ time.Duration, _ float64, reason string) { d.notes = append(d.notes, reason) }
	d.begin()
	return d
}

// slotted is the time between two ends where k tasks are served at once, 5 ms each.
func slotted(k int) func(limit int) time.Duration {
	return func(limit int) time.Duration { return 5 * time.Millisecond / time.Duration(min(k, limit)) }
}

// serve ends n tasks.
func (d *driven) serve(n int, gap func(limit int) time.Duration) {
	for range n {
		g := gap(d.limit)
		d.now += g
		d.ended(d.now, 1, g*time.Duration(d.limit), d.limit, true)
		d.seen()
	}
}

// stall looks at the time as the tick does, and reports whether more may begin.
func (d *driven) stall(now time.Duration) bool { return d.overdue(now) && d.stalled(now) }

// seen notes the limit and the phase if they have changed.
func (d *driven) seen() {
	if n := len(d.limits); n == 0 || d.limits[n-1] != d.limit {
		d.limits = append(d.limits, d.limit)
	}
	if n := len(d.phases); n == 0 || d.phases[n-1] != d.phase {
		d.phases = append(d.phases, d.phase)
	}
}

// until serves up to n tasks until ok.
func (d *driven) until(t *testing.T, n int, gap func(limit int) time.Duration, what string, ok func() bool) {
	t.Helper()
	for range n {
		if ok() {
			return
		}
		d.serve(1, gap)
	}
	t.Fatalf("after %d tasks, phase %d, limit %d: not %s; %q", n, d.phase, d.limit, what, d.notes)
}

// held returns a search that holds n, as it does with n slots, and pauses for long.
func held(n int) *driven {
	d := drive(usual)
	r := reading{tasks: 1000, time: 1000 * float64(slotted(n)(n)), running: float64(n)}
	d.began, d.limit = true, n
	d.pause = longer
	d.settleAt(d.now, r, longer, "reached")
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

// TestLimitRisesByThreeATask lets more begin only as tasks end.
func TestLimitRisesByThreeATask(t *testing.T) {
	d := drive(usual)
	for n := 12; n < 36; n += growth {
		if d.limit != n || d.phase != Rising {
			t.Fatalf("limit %d in phase %d, want %d", d.limit, d.phase, n)
		}
		d.serve(1, slotted(1000))
	}
	if d.limit != 36 {
		t.Errorf("limit %d at the end of the first round, want Burst", d.limit)
	}
}

func TestLimitRisesWithTheThroughput(t *testing.T) {
	d := drive(usual)
	d.until(t, 2000, slotted(1000), "at the maximum", func() bool { return d.phase == Holding })
	if d.limit != 256 || !slices.IsSorted(d.limits) {
		t.Errorf("limits %v", d.limits)
	}
	if last := d.notes[len(d.notes)-1]; !strings.Contains(last, "throughput rose") || !strings.Contains(last, "this is the maximum") {
		t.Errorf("reason: %s", last)
	}
}

func TestRiseStopsWhereTheThroughputDoes(t *testing.T) {
	d := drive(usual)
	d.until(t, 2000, slotted(20), "at the end of the rise", func() bool { return d.phase != Rising })
	if d.phase != Probing || slices.Max(d.limits) > 144 {
		t.Errorf("phase %d, limits %v", d.phase, d.limits)
	}
	if last := d.notes[len(d.notes)-1]; !strings.Contains(last, "throughput did not rise") {
		t.Errorf("reason: %s", last)
	}
	d.until(t, 3000, slotted(20), "near 20", func() bool { return d.phase == Holding && d.limit >= 18 && d.limit <= 28 })
}

// TestSlowRoundEndsTheRise has tasks that end much later once many run: no more begin
// before it is known whether those are of use.
func TestSlowRoundEndsTheRise(t *testing.T) {
	d := drive(usual)
	d.until(t, 200, slotted(1000), "in the second round", func() bool { return d.prior.tasks > 0 })
	d.until(t, 200, func(int) time.Duration { return 50 * time.Millisecond }, "at the end of the rise", func() bool { return d.phase != Rising })
	if top := slices.Max(d.limits); top > 36+growth {
		t.Errorf("up to %d in the second round", top)
	}
}

// TestRiseThatHarmsIsTakenBackFurther has a server that is worse the more are at work.
func TestRiseThatHarmsIsTakenBackFurther(t *testing.T) {
	d := drive(usual)
	worse := func(limit int) time.Duration { return time.Duration(limit*limit) * 10 * time.Microsecond }
	d.until(t, 2000, worse, "at the end of the rise", func() bool { return d.phase != Rising })
	if most := d.prior.running / 2; float64(d.limit) > most {
		t.Errorf("limit %d, want half of what ran in the round before, %.1f, at most", d.limit, most)
	}
	if last := d.notes[len(d.notes)-1]; !strings.Contains(last, "throughput fell") {
		t.Errorf("reason: %s", last)
	}
	d.until(t, 3000, worse, "at 1", func() bool { return d.phase == Holding && d.limit == 1 })
}

// TestRiseEndsAtTheCeiling has memory for 50 tasks.
func TestRiseEndsAtTheCeiling(t *testing.T) {
	d := drive(usual)
	d.room = func(_, want int) (int, string) {
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
	d.until(t, 5000, slotted(1000), "at more", func() bool { return d.at > 20 })
	if !slices.ContainsFunc(d.notes, func(s string) bool { return strings.Contains(s, "more do better") }) {
		t.Errorf("%q", d.notes)
	}
	d.until(t, 5000, slotted(1000), "at the maximum", func() bool { return d.at == 256 })
}

func TestHoldProbesDownAndIsAccepted(t *testing.T) {
	d := held(40)
	d.base.time = 1000 * float64(slotted(10)(40))
	d.until(t, 5000, slotted(10), "at less", func() bool { return d.at < 40 })
	if !slices.ContainsFunc(d.notes, func(s string) bool { return strings.Contains(s, "fewer do as well") }) {
		t.Errorf("%q", d.notes)
	}
	d.until(t, 5000, slotted(10), "near 10", func() bool { return d.at >= 9 && d.at < 15 })
}

// TestProbesThatFailGoBack has a limit that is right: probes both ways find less, and
// come more and more rarely. They are not told of.
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
		if d.at != 20 {
			t.Fatalf("limit %d is accepted; %q", d.at, d.notes[len(d.notes)-1])
		}
		if d.pause != before {
			pauses = append(pauses, d.pause)
			if down != up {
				t.Errorf("pause of %d windows after %d probes down and %d up", d.pause, down, up)
			}
		}
	}
	if !slices.Equal(pauses, []int{4, 8, longer}) {
		t.Errorf("pauses of %v windows", pauses)
	}
	if down == 0 || up == 0 || len(d.notes) != told {
		t.Errorf("%d probes down, %d up, %q", down, up, d.notes[told:])
	}
}

// TestChangeOfThroughputIsLookedInto has the server lose or gain slots while the
// search pauses for long.
func TestChangeOfThroughputIsLookedInto(t *testing.T) {
	d := held(20)
	d.serve(50, slotted(20))
	d.until(t, 200, slotted(5), "probing", func() bool { return d.phase == Probing })
	d.until(t, 5000, slotted(5), "near 5", func() bool { return d.at <= 8 })
	d.until(t, 5000, slotted(40), "near 40", func() bool { return d.at >= 36 })
}

// TestOneFreePlaceSpoilsAWindow has all tasks of a window but one end with all places
// taken.
func TestOneFreePlaceSpoilsAWindow(t *testing.T) {
	d := held(40)
	before := d.base.tasks
	for range 20 {
		d.serve(50, slotted(5)) // less than it was, which would be looked into
		d.now += time.Millisecond
		d.ended(d.now, 1, time.Millisecond, 1, false)
	}
	if d.base.tasks != before || d.phase != Holding {
		t.Errorf("phase %d, %v tasks known of %v", d.phase, d.base.tasks, before)
	}
}

// TestUnusedPlacesTeachNothing ends tasks while places are free, or nobody waits.
func TestUnusedPlacesTeachNothing(t *testing.T) {
	for _, phase := range []Phase{Rising, Holding, Probing} {
		for _, waiting := range []bool{false, true} {
			d := drive(usual)
			if phase != Rising {
				d = held(40)
			}
			if phase == Probing {
				d.hold = 1
				d.until(t, 500, slotted(40), "probing", func() bool { return d.phase == Probing })
				d.until(t, 500, slotted(40), "settled", func() bool { return d.settle == 0 })
			}
			before := d.limit
			for range 10000 {
				d.now += time.Millisecond
				d.ended(d.now, 1, time.Millisecond, d.limit/2, waiting)
			}
			if d.limit != before || d.phase != phase {
				t.Errorf("phase %d, waiting %v: limit from %d to %d, phase %d", phase, waiting, before, d.limit, d.phase)
			}
		}
	}
}

func TestStalledLetsMoreBegin(t *testing.T) {
	d := drive(usual)
	if d.stall(stuck-1) || d.limit != 12 {
		t.Fatalf("stalled before %v: limit %d", stuck, d.limit)
	}
	var limits []int
	for i := 1; d.limit < d.most(); i++ {
		if !d.stall(time.Duration(i) * stuck) {
			t.Fatalf("not stalled at limit %d", d.limit)
		}
		limits = append(limits, d.limit)
	}
	if limits[0] != 36 || limits[1] != 40 || !slices.IsSorted(limits) || d.limit != beyond*36 {
		t.Errorf("limits %v", limits)
	}
	if d.stall(time.Hour) || d.limit != beyond*36 {
		t.Errorf("limit %d, want no more than %d", d.limit, beyond*36)
	}
}

func TestStalledKeepsToTheMaximum(t *testing.T) {
	d := drive(Config{Min: 1, Max: 40, Burst: 36, Procs: 2})
	for i := range 100 {
		d.stall(time.Duration(i+1) * time.Second)
	}
	if d.limit != 40 || d.most() != 40 {
		t.Errorf("limit %d, at most %d", d.limit, d.most())
	}
	d = held(200) // above 4 times Burst by evidence
	if d.stall(time.Hour) || d.limit != 200 {
		t.Errorf("limit %d", d.limit)
	}
}

// TestLongTasksAreNoStall waits for twice as long as tasks take.
func TestLongTasksAreNoStall(t *testing.T) {
	d := held(20)
	d.now += time.Second
	d.ended(d.now, 1, 10*time.Second, 20, true)
	if d.stall(d.now + 20*time.Second - 1) {
		t.Error("stalled before")
	}
	if !d.stall(d.now+20*time.Second) || d.limit != 22 {
		t.Errorf("limit %d in phase %d", d.limit, d.phase)
	}
}

// TestStallKeepsWhatWasFound has a server hang: the limit at most doubles, and is what
// it was when tasks end again.
func TestStallKeepsWhatWasFound(t *testing.T) {
	d := held(20)
	d.serve(100, slotted(20))
	limit := d.limit
	for d.limit < d.most() {
		d.now += time.Minute
		d.stall(d.now)
	}
	if d.limit != 2*limit {
		t.Errorf("limit %d after a hang, it was %d", d.limit, limit)
	}
	d.serve(1, slotted(20))
	if d.limit != limit || d.notes[len(d.notes)-1] != "tasks end again" {
		t.Errorf("limit %d after that, it was %d; %q", d.limit, limit, d.notes)
	}
}

// refuse has n tasks refused, which are told as ended.
func (d *driven) refuse(n int) {
	for range n {
		d.overloaded(d.now, true)
		d.now += time.Millisecond
		d.ended(d.now, 1, time.Millisecond, d.limit, true)
	}
}

// TestOverloadLowersOnceAGeneration has all tasks that began under the old limit fail.
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
// generation by generation, and nothing is told of a stall.
func TestTotalRefusal(t *testing.T) {
	d := held(100)
	d.refuse(900)
	if d.limit != d.Min || d.stall(d.now+stuck/2) {
		t.Errorf("limit %d", d.limit)
	}
	if slices.ContainsFunc(d.notes, func(s string) bool { return strings.Contains(s, "for a while") }) {
		t.Errorf("%q", d.notes)
	}
	d.refuse(100_000) // for 100 s
	began := d.now
	d.until(t, 10_000, slotted(50), "half of what is right", func() bool { return d.limit >= 25 })
	if took := d.now - began; took > longest+time.Second {
		t.Errorf("%v after the end of the outage it is back", took)
	}
}

// TestFewRefusalsAreNoOverload has one task of a hundred refused, whatever the limit.
func TestFewRefusalsAreNoOverload(t *testing.T) {
	d := held(100)
	for range 1000 {
		d.refuse(1)
		d.serve(99, slotted(100))
		if d.limit < 60 {
			t.Fatalf("limit %d, %q", d.limit, d.notes[len(d.notes)-1])
		}
	}
}

// TestOverloadIsNoThroughput does not count tasks that end by it.
func TestOverloadIsNoThroughput(t *testing.T) {
	d := held(100)
	for range 3 {
		d.overloaded(d.now, true)
	}
	d.overloaded(d.now, false) // not counted as ended either
	d.window.open(d.now)
	d.ended(d.now+1, 2, time.Millisecond, 70, true)
	if d.window.tasks != 0 || d.mild != 1 {
		t.Errorf("%v tasks counted, %d overloads left", d.window.tasks, d.mild)
	}
	d.ended(d.now+2, 2, time.Millisecond, 70, true)
	if d.window.tasks != 1 || d.mild != 0 {
		t.Errorf("%v tasks counted, %d overloads left", d.window.tasks, d.mild)
	}
}

// TestOverloadIsRemembered has the limit come back, below where the overload was, and
// go beyond once that is long ago.
func TestOverloadIsRemembered(t *testing.T) {
	d := held(100)
	d.refuse(5)
	began := d.now
	for d.roof > 0 {
		if d.limit > 99 {
			t.Fatalf("limit %d while it is remembered", d.limit)
		}
		d.serve(1, slotted(1000))
	}
	if took := d.now - began; took < shortly/2 {
		t.Errorf("it was remembered for %v", took)
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
		d := drive(config)
		for i := range 100_000 {
			d.random(r)
			if d.limit < config.Min || d.limit > config.Max {
				t.Fatalf("%+v: limit %d in phase %d after %d calls; -stint.seed=%d", config, d.limit, d.phase, i, *seed)
			}
		}
	}
}

// random makes some call. The rate of tasks changes from time to time.
func (d *driven) random(r *rand.Rand) {
	switch r.IntN(40) {
	case 0:
		d.now += time.Duration(r.ExpFloat64() * float64(time.Second))
		d.stall(d.now)
	case 1:
		if r.IntN(5) == 0 {
			d.overloaded(d.now, r.IntN(2) == 0)
		}
	case 2:
		if r.IntN(5) == 0 {
			d.retreat(d.now, "memory is short")
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
		d.ended(d.now, 1+r.IntN(3), took, running, r.IntN(30) > 0)
	}
}

// What a reason says of throughputs is read by people, on a page or a line of text.
func TestReasonsAreReadable(t *testing.T) {
	for _, c := range []struct {
		rate float64 // tasks a second
		want string
	}{
		{0, "0"}, {0.0312, "0.0312"}, {1, "1"}, {3.14159, "3.14"}, {20, "20"}, {99.44, "99.4"}, {99.96, "100"},
		{100, "100"}, {999.6, "1000"}, {44163.2, "44163"}, {12_345_678, "12345678"},
	} {
		const brief = 1 // ns
		a := reading{tasks: c.rate, time: float64(time.Second), running: 1.4, took: brief}
		b := reading{tasks: 7, time: float64(time.Second), running: 9, took: brief}
		want := "so: " + c.want + " a second with 2, 7 with 9"
		if c.rate == 0 {
			want = "so: 7 a second with 9"
		}
		if got := compared("so", a, b); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestWhatIsNotKnownIsNotTold has readings of tasks of which nobody knows how long they
// took: they may all have begun long before.
func TestWhatIsNotKnownIsNotTold(t *testing.T) {
	a := reading{tasks: 30, time: float64(time.Second), running: 3}
	b := reading{tasks: 60, time: float64(time.Second), running: 6, took: 1e7}
	for _, c := range []struct {
		a, b reading
		want string
	}{
		{a, a, "so"}, {b, a, "so"}, {a, b, "so: 60 a second with 6"}, {b, b, "so: 60 a second with 6, 60 with 6"},
	} {
		if got := compared("so", c.a, c.b); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
	if a.told() != 0 || math.Abs(b.told()-60) > 1e-9 || (reading{}).told() != 0 {
		t.Errorf("told %v, %v and %v", a.told(), b.told(), reading{}.told())
	}
}

// TestInterruptedIsTold has a probe end without a conclusion: when people were told of
// it, they are told that the limit is what it was. The last change says the limit.
func TestInterruptedIsTold(t *testing.T) {
	for _, told := range []string{"", "throughput fell"} {
		s := &search{Config: usual}
		s.begin()
		limits := []int{s.limit}
		s.note = func(time.Duration, float64, string) { limits = append(limits, s.limit) }
		s.at = 24
		s.try(0, reading{}, 12, told)
		s.interrupt(0)
		if want := []int{12, 12, 24}; told != "" && !slices.Equal(limits, want) || told == "" && len(limits) != 1 {
			t.Errorf("told %q: changes to %v", told, limits)
		}
		if s.limit != 24 || s.phase != Holding {
			t.Errorf("limit %d in phase %v", s.limit, s.phase)
		}
	}
}

// TestRoofIsNoBarWhenNothingEnds has no task end after an overload: they may be waiting
// for each other, so more may begin than when there was one.
func TestRoofIsNoBarWhenNothingEnds(t *testing.T) {
	s := &search{Config: usual}
	s.begin()
	s.ended(0, 1, time.Millisecond, s.limit, true)
	s.wait, s.until = longest, longest
	over := s.limit
	s.forbid(0, over)
	s.retreat(0, "overload")
	s.proven = over
	for now := stuck; now < longest; now += stuck {
		s.stalled(now)
	}
	if s.limit <= over {
		t.Errorf("limit %d, want more than %d", s.limit, over)
	}
}
