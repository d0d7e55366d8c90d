package conformance_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/internal/race"
	"github.com/stint-go/stint/internal/workload"
)

// pooled is a run: tasks that are given to a pool of their own.
func pooled(ctx context.Context, n int, f body, opts ...stint.Option) error {
	p := stint.NewPool(opts...)
	for i := range n {
		if p.GoContext(ctx, func(ctx context.Context) { f(ctx, i) }) != nil {
			break
		}
	}
	_, err := p.Shutdown(ctx)
	return err
}

// looped is the usual run.
func looped(ctx context.Context, n int, f body, opts ...stint.Option) error {
	return stint.Range(ctx, n, f, opts...)
}

// drivers are the entry points and the Pool, without MapSeq, whose results are yielded in
// order: one slow task holds up the others.
func drivers() []entryPoint {
	all := slices.DeleteFunc(searching(), func(e entryPoint) bool { return e.inOrder() })
	return append(all, entryPoint{"Pool", pooled})
}

// live runs the tasks of a workload until its end.
func live(t *testing.T, w *workload.Workload, seed int, driver run, opts ...stint.Option) *workload.Meter {
	t.Helper()
	var l *workload.Live
	synctest.Test(t, func(t *testing.T) {
		ctx, n := bg, w.Total
		if n == 0 {
			n = 20_000 + int(2*max(w.Best, 5)*w.Until) // more than it can do
			timeout, cancel := context.WithTimeout(ctx, time.Duration(w.Until*float64(time.Millisecond)))
			defer cancel()
			ctx = timeout
		}
		l = workload.NewLive(w, uint64(seed))
		driver(ctx, n, func(ctx context.Context, _ int) error { return l.Task(ctx) }, opts...)
		l.Stop()
	})
	return &l.Meter
}

// trialOf returns the trial of that name.
func trialOf(name string) *workload.Trial {
	all := workload.Trials()
	return &all[slices.IndexFunc(all, func(tr workload.Trial) bool { return tr.Name == name })]
}

// liveGoals are stricter than those of a trial, which the simulation reaches: the durations
// of live tasks are more evenly spread.
var liveGoals = map[string]workload.Trial{
	"13 100 short ones":  {Makespan: 16 / 8.955},
	"13 1000 short ones": {Makespan: 16 / 8.955},
	"17 lognormal k=20":  {Ratio: 0.93, Running: 3.5},
}

// judge fails the test for the goals that the median misses, and for a run that reaches
// less than half of the throughput. Under the race detector fewer runs are tried, and
// nothing is judged.
func judge(t *testing.T, tr *workload.Trial, outcomes ...workload.Outcome) {
	t.Helper()
	median, goals := workload.Median(outcomes), *tr
	if stricter, ok := liveGoals[tr.Name]; ok {
		stricter.Workload = tr.Workload
		goals = stricter
	}
	t.Logf("%-22s %v", tr.Name, median)
	misses := goals.Misses(median)
	for _, o := range outcomes {
		if tr.Total == 0 {
			misses = append(misses, (&workload.Trial{Workload: tr.Workload, Ratio: 0.5}).Misses(o)...)
		}
	}
	for _, miss := range misses {
		if !race.Enabled {
			t.Error(miss)
		}
	}
}

// autoSeeds is the number of runs of a trial. The median of three varies too much at "5
// slots k=4": most runs start 18 tasks for each slot at once, but one in five starts 36.
var autoSeeds = map[bool]int{false: 5, true: 1}[race.Enabled]

// Auto finds the limit of workloads, and keeps it: of each fourth here, of all in internal/auto,
// where they are simulated. Tasks that fail are tested in TestOverload.
func TestAutoFindsTheLimit(t *testing.T) {
	for i, tr := range workload.Trials() {
		kind, _, _ := strings.Cut(tr.Name, " ")
		if slices.Contains([]string{"1", "2", "14", "27"}, kind) || race.Enabled && i%12 != 4 || i%4 != 0 {
			continue
		}
		var outcomes []workload.Outcome
		for seed := range autoSeeds {
			m := live(t, &tr.Workload, seed, looped, stint.Auto(1, 256))
			outcomes = append(outcomes, tr.Outcome(m, uint64(seed)))
		}
		judge(t, &tr, outcomes...)
	}
}

// Auto is the default, through every entry point.
func TestAutoIsTheDefault(t *testing.T) {
	names := []string{"15 100 for 20 slots", "13 100 short ones", "16 200 very long ones", "5 slots k=20"}
	for i, e := range drivers() {
		tr := trialOf(names[i%len(names)])
		if tr.Total == 0 && (race.Enabled || testing.Short()) {
			continue // many tasks
		}
		var outcomes []workload.Outcome
		for seed := range autoSeeds {
			outcomes = append(outcomes, tr.Outcome(live(t, &tr.Workload, seed, e.run), uint64(seed)))
		}
		judge(t, tr, outcomes...)
	}
}

// With a short queue no task waits for a permit: a sequence that is pulled no further counts
// as waiting. The limit rises, though more slowly than with a long queue: whoever pulls hands
// over one task at a time, and permits are free meanwhile.
func TestShortQueuesRaiseTheLimit(t *testing.T) {
	onlySearches(t)
	for _, queue := range []int{0, 1, 3} {
		for _, name := range []string{"EachSeq", "MapSeq", "Unordered"} {
			bubble(t, fmt.Sprintf("%s/Queue(%d)", name, queue), func(t *testing.T) { raisedBehindAShortQueue(t, name, queue) })
		}
	}
}

func raisedBehindAShortQueue(t *testing.T, name string, queue int) {
	const n, each = 8_000, 10 * time.Millisecond
	l, start := stint.Auto(1, 256), time.Now()
	unchanged := n / time.Duration(l.Current()) * each
	equal(t, "error", entry(name)(bg, n, func(context.Context, int) error { time.Sleep(each); return nil }, l, stint.Queue(queue)), nil)
	if got := time.Since(start); got > 2*unchanged/3 {
		t.Errorf("took %v of %v under the first limit, and the limit is %d; %v", got, unchanged, l.Current(), l.Stats().History)
	}
}

// A consumer that is slower than the tasks does not raise the limit of a sequence with a
// short queue.
func TestSlowConsumerDoesNotRaiseTheLimit(t *testing.T) {
	onlySearches(t)
	for _, opts := range [][]stint.Option{{stint.Queue(0)}, {stint.Queue(3)}, {stint.Queue(0), stint.Unordered()}, {stint.Queue(1), stint.Unordered()}} {
		synctest.Test(t, func(t *testing.T) {
			l := stint.Auto(1, 256)
			task := func(context.Context, int) (int, error) { time.Sleep(10 * time.Millisecond); return 0, nil }
			for range stint.MapSeq(bg, count(2000), task, append(opts, l)...) {
				time.Sleep(5 * time.Millisecond) // two permits are enough
			}
			if n := l.Current(); n > 72 { // slow start, once
				t.Errorf("%d options: the limit is %d", len(opts), n)
			}
		})
	}
}

// Burst tasks start before any has finished: a third of them at once.
func TestBurst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := new(gauge)
		done := begin(func() error {
			return stint.Range(bg, 100, holds(g, 100*time.Millisecond), stint.Auto(1, 256, stint.Burst(64)))
		})
		time.Sleep(90 * time.Millisecond)
		g.Runs(t, 21)
		time.Sleep(100 * time.Millisecond) // the first have ended
		g.Runs(t, 64)
		equal(t, "error", <-done, nil)
		equal(t, "time passed", sinceBubble(), 300*time.Millisecond)
	})
}

// Bursts of 50 tasks for 20 slots, which could serve twice as many: the search learns
// nothing, and the limit does not grow.
func TestAutoDoesNotGrowWithoutNeed(t *testing.T) {
	onlySearches(t)
	const until = 2 * time.Second
	w := trialOf("5 slots k=20 always").Workload
	w.Until = milliseconds(until)
	var limits [2]int // the largest in each half of the run
	synctest.Test(t, func(t *testing.T) {
		limiter := stint.Auto(1, 256)
		p := stint.NewPool(limiter, stint.Queue(10_000))
		l := workload.NewLive(&w, 1)
		for sinceBubble() < until {
			for range 50 {
				p.Go(func(ctx context.Context) { l.Task(ctx) })
			}
			time.Sleep(25 * time.Millisecond)
			half := min(1, int(sinceBubble()*2/until))
			limits[half] = max(limits[half], limiter.Current())
		}
		p.Close()
		l.Stop()
		if x := l.Throughput() / 2; math.Abs(x-1) > 0.03 {
			t.Errorf("%.3f of the tasks that were submitted", x)
		}
	})
	if limits[1] > limits[0] {
		t.Errorf("the limit was up to %d in the first half and up to %d in the second", limits[0], limits[1])
	}
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// Errors that mean overload do not count as throughput.
func TestOverload(t *testing.T) {
	tr := trialOf("27 overload")
	tr.Ratio = 0.9
	var outcomes []workload.Outcome
	for seed := range autoSeeds {
		m := live(t, &tr.Workload, seed, looped, stint.KeepGoing(),
			stint.Auto(1, 256, stint.Overload(func(err error) bool { return errors.Is(err, workload.ErrFull) })))
		outcomes = append(outcomes, tr.Outcome(m, uint64(seed)))
	}
	judge(t, tr, outcomes...)
}
