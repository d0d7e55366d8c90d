package conformance_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
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
		ctx, n := context.Background(), w.Total
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

// Auto finds the limit of each workload, and keeps it. Tasks that only compute, which use
// no real CPUs here, are tested in internal/auto, and tasks that fail in TestOverload.
func TestAutoFindsTheLimit(t *testing.T) {
	for i, tr := range workload.Trials() {
		kind, _, _ := strings.Cut(tr.Name, " ")
		if slices.Contains([]string{"1", "2", "14", "27"}, kind) || race.Enabled && i%12 != 4 || testing.Short() && i%4 != 0 {
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
	if race.Enabled || testing.Short() {
		names = names[:2]
	}
	for _, name := range names {
		tr := trialOf(name)
		for _, e := range drivers() {
			var outcomes []workload.Outcome
			for seed := range autoSeeds {
				outcomes = append(outcomes, tr.Outcome(live(t, &tr.Workload, seed, e.run), uint64(seed)))
			}
			judge(t, tr, outcomes...)
		}
	}
}

// With a short queue no task waits for a permit: a sequence that is pulled no further counts
// as waiting. The limit rises, though more slowly than with a long queue: whoever pulls hands
// over one task at a time, and permits are free meanwhile.
func TestShortQueuesRaiseTheLimit(t *testing.T) {
	for _, queue := range []int{0, 1, 3} {
		for _, e := range entryPoints {
			if !slices.Contains([]string{"EachSeq", "MapSeq", "Unordered"}, e.name) {
				continue
			}
			synctest.Test(t, func(t *testing.T) {
				const n = 8_000
				l, start := stint.Auto(1, 256), time.Now()
				unchanged := n / time.Duration(l.Current()) * 10 * time.Millisecond
				equal(t, e.name, e.run(context.Background(), n, func(context.Context, int) error { time.Sleep(10 * time.Millisecond); return nil }, l, stint.Queue(queue)), nil)
				if got := time.Since(start); got > 2*unchanged/3 {
					t.Errorf("%s, Queue(%d): took %v of %v under the first limit, and the limit is %d; %v", e.name, queue, got, unchanged, l.Current(), l.Stats().History)
				}
			})
		}
	}
	for _, name := range []string{"5 slots k=20", "10 cliff"} { // that do worse with more
		tr := trialOf(name)
		if race.Enabled || testing.Short() {
			break
		}
		for _, e := range drivers() {
			if e.name != "Unordered" && !strings.HasSuffix(e.name, "EachSeq") {
				continue
			}
			var outcomes []workload.Outcome
			for seed := range autoSeeds {
				outcomes = append(outcomes, tr.Outcome(live(t, &tr.Workload, seed, e.run, stint.Queue(0)), uint64(seed)))
			}
			judge(t, tr, outcomes...)
		}
	}
}

// A consumer that is slower than the tasks does not raise the limit of a sequence with a
// short queue.
func TestSlowConsumerDoesNotRaiseTheLimit(t *testing.T) {
	for _, queue := range []int{0, 1, 3} {
		for _, more := range [][]stint.Option{{}, {stint.Unordered()}} {
			synctest.Test(t, func(t *testing.T) {
				l := stint.Auto(1, 256)
				opts := append(more, l, stint.Queue(queue))
				for range stint.MapSeq(context.Background(), count(2000), func(context.Context, int) (int, error) { time.Sleep(10 * time.Millisecond); return 0, nil }, opts...) {
					time.Sleep(5 * time.Millisecond) // two permits are enough
				}
				if n := l.Current(); n > 72 { // slow start, once
					t.Errorf("Queue(%d): the limit is %d", queue, n)
				}
			})
		}
	}
}

// A fixed limit is used up, through every entry point.
func TestWorkloadThroughEveryEntryPoint(t *testing.T) {
	tr := trialOf("5 slots k=20")
	tr.Until = 3000
	if race.Enabled {
		tr.From, tr.Until = 0, 500
	}
	for _, e := range drivers() {
		m := live(t, &tr.Workload, 1, e.run, stint.Limit(20))
		equal(t, e.name+": most tasks at once", m.Peak, 20)
		if x := m.Throughput() / tr.Best; math.Abs(x-1) > 0.05 && !race.Enabled {
			t.Errorf("%s: %.3f of the throughput that is known", e.name, x)
		}
	}
}

// Tasks that are refused count as tasks that wait: the same throughput is reached, and where
// a limit is better than others, the same limit is found. At "6 shared" all from 20 on are as good.
func TestAutoFindsTheLimitOfRefusedTasks(t *testing.T) {
	names := []string{"5 slots k=20", "6 shared", "10 cliff"}
	if race.Enabled || testing.Short() {
		names = names[:1]
	}
	for _, name := range names {
		tr := trialOf(name)
		var refused, waited []float64
		var outcomes []workload.Outcome
		for seed := range autoSeeds {
			limit, m := offered(t, tr, seed, 0)
			refused, outcomes = append(refused, limit), append(outcomes, tr.Outcome(m, uint64(seed)))
			limit, _ = offered(t, tr, seed, 100)
			waited = append(waited, limit)
		}
		judge(t, tr, outcomes...)
		slices.Sort(refused)
		slices.Sort(waited)
		if x := refused[len(refused)/2] / waited[len(waited)/2]; !race.Enabled && name != "6 shared" && (x < 0.7 || x > 1.4) {
			t.Errorf("%s: refused tasks find %.2f of the limit that waiting tasks find", name, x)
		}
	}
}

// offered gives a pool twice as many tasks as the servers can serve. It returns the mean of
// the limit over the second half of the time.
func offered(t *testing.T, tr *workload.Trial, seed, queue int) (limit float64, m *workload.Meter) {
	interval := time.Duration(float64(time.Millisecond) / tr.Best / 2)
	until := time.Duration(tr.Until * float64(time.Millisecond))
	synctest.Test(t, func(*testing.T) {
		limiter := stint.Auto(1, 256)
		pool := stint.NewPool(limiter, stint.Queue(queue))
		l := workload.NewLive(&tr.Workload, uint64(seed))
		samples := 0.0
		for sinceBubble() < until {
			pool.TryGo(func(ctx context.Context) { l.Task(ctx) })
			time.Sleep(interval)
			if sinceBubble() > until/2 {
				limit += float64(limiter.Current())
				samples++
			}
		}
		limit /= samples
		pool.Close()
		l.Stop()
		m = &l.Meter
	})
	return limit, m
}

// Burst tasks start before any has finished: a third of them at once.
func TestBurst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := new(gauge)
		done := make(chan error)
		go func() {
			done <- stint.Range(context.Background(), 100, func(context.Context, int) error {
				g.Hold(100 * time.Millisecond)
				return nil
			}, stint.Auto(1, 256, stint.Burst(64)))
		}()
		time.Sleep(90 * time.Millisecond)
		g.Runs(t, 21)
		time.Sleep(100 * time.Millisecond) // the first have ended
		g.Runs(t, 64)
		equal(t, "error", <-done, nil)
		equal(t, "time passed", sinceBubble(), 300*time.Millisecond)
	})
}

// The bounds of Auto are kept: tasks that only sleep reach the maximum, and tasks on a
// lock, which gain nothing beyond two at once, do not lower the limit below the minimum.
func TestAutoKeepsItsBounds(t *testing.T) {
	sleep, lock := trialOf("3 sleep"), trialOf("20 lock")
	equal(t, "most tasks at once", live(t, &sleep.Workload, 1, looped, stint.Auto(3, 7)).Peak, 7)
	equal(t, "most tasks at once", live(t, &sleep.Workload, 1, looped, stint.Auto(5, 5)).Peak, 5)
	m := live(t, &lock.Workload, 1, looped, stint.Auto(6, 256))
	if mean := m.Mean(); mean < 5.9 {
		t.Errorf("%.2f tasks on average, want at least 6", mean)
	}
}

// Bursts of 50 tasks for 20 slots, which could serve twice as many: the search learns
// nothing, and the limit does not grow.
func TestAutoDoesNotGrowWithoutNeed(t *testing.T) {
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

// When nothing ends, more must start: the tasks may wait for each other. Each task waits
// for the start of the task 64 later.
func TestAutoFreesChainedTasks(t *testing.T) {
	const n, depth = 500, 64
	chained := func(t *testing.T, driver run, opts ...stint.Option) (ended int) {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
			defer cancel()
			started := make([]chan struct{}, n+depth)
			for i := range started {
				started[i] = make(chan struct{})
				if i >= n {
					close(started[i])
				}
			}
			var done atomic.Int64
			driver(ctx, n, func(ctx context.Context, i int) error {
				close(started[i])
				select {
				case <-started[i+depth]:
					done.Add(1)
				case <-ctx.Done():
				}
				return nil
			}, opts...)
			ended = int(done.Load())
		})
		return ended
	}
	equal(t, "tasks done at limit 65", chained(t, looped, stint.Limit(65)), n)
	equal(t, "tasks done at limit 64", chained(t, looped, stint.Limit(64)), 0)
	for _, e := range drivers() {
		equal(t, e.name+": tasks done", chained(t, e.run), n)
	}
}

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

// An audit follows what tasks do, and reads the limiter's statistics now and then.
type audit struct {
	limiter *stint.Limiter

	mu           sync.Mutex
	shortest     time.Duration // task that has ended
	inside, peak int
	ends         int
	figures      int // that were read
	wrong        []string
}

// task returns a task of 10 to 12 ms that is followed.
func (a *audit) task(seed int) func(context.Context) error {
	r := rand.New(rand.NewPCG(0, uint64(seed)))
	return func(context.Context) error {
		a.mu.Lock()
		a.inside++
		a.peak = max(a.peak, a.inside)
		d := 10*time.Millisecond + time.Duration(r.Int64N(int64(2*time.Millisecond)))
		a.mu.Unlock()
		time.Sleep(d)
		a.mu.Lock()
		defer a.mu.Unlock()
		a.inside--
		a.shortest = min(a.shortest, d)
		if a.ends++; a.ends%37 == 0 {
			a.read()
		}
		return nil
	}
}

// toldFigures are the throughputs in a reason, each with how many ran.
var toldFigures = regexp.MustCompile(`([0-9.]+)(?: a second)? with ([0-9]+)`)

func (a *audit) read() {
	s := a.limiter.Stats()
	a.judge(s.Throughput, a.peak, "throughput")
	for _, c := range s.History {
		a.judge(c.Throughput, a.peak, c.Reason)
		for _, m := range toldFigures.FindAllStringSubmatch(c.Reason, -1) {
			x, _ := strconv.ParseFloat(m[1], 64)
			n, _ := strconv.Atoi(m[2])
			a.judge(x, n, c.Reason)
		}
	}
}

// judge notes when n workers cannot have ended x tasks per second. Figures are rounded, to
// three digits at least.
func (a *audit) judge(x float64, n int, what string) {
	if x == 0 {
		return
	}
	a.figures++
	if x*a.shortest.Seconds() > float64(n)*1.005 {
		a.wrong = append(a.wrong, fmt.Sprintf("%s: %.0f per second with %d, none of less than %v", what, x, n, a.shortest))
	}
}

// Reported throughput is possible: by Little's law, n workers finish at most n/d tasks of
// duration d per second. Here workers start and end during the test; internal/auto has this
// test for each workload.
func TestReportedThroughputIsPossible(t *testing.T) {
	for name, driver := range map[string]func(l *stint.Limiter, task func(context.Context) error){
		"several calls at once":  callsAtOnce,
		"calls after each other": callsAfterEachOther,
		"a pool that was busy":   busyPool,
	} {
		for seed := range autoSeeds {
			a := &audit{limiter: stint.Auto(1, 256), shortest: math.MaxInt64}
			synctest.Test(t, func(*testing.T) { driver(a.limiter, a.task(seed)) })
			if a.figures == 0 || len(a.wrong) > 0 {
				t.Errorf("%s: %d figures, %d are wrong: %.300s", name, a.figures, len(a.wrong), strings.Join(a.wrong, "; "))
			}
		}
	}
}

func callsAtOnce(l *stint.Limiter, task func(context.Context) error) {
	var calls sync.WaitGroup
	for i := range 40 {
		calls.Go(func() {
			time.Sleep(time.Duration(i) * 3 * time.Millisecond)
			for range 4 {
				stint.Range(context.Background(), 150, func(ctx context.Context, _ int) error { return task(ctx) }, l)
			}
		})
	}
	calls.Wait()
}

func callsAfterEachOther(l *stint.Limiter, task func(context.Context) error) {
	for range 30 {
		stint.Range(context.Background(), 700, func(ctx context.Context, _ int) error { return task(ctx) }, l)
		time.Sleep(20 * time.Millisecond)
	}
}

// busyPool is tasks that have started before anybody waited.
func busyPool(l *stint.Limiter, task func(context.Context) error) {
	p := stint.NewPool(l)
	for range 20 {
		for range l.Current() {
			p.Go(func(ctx context.Context) { task(ctx) })
			time.Sleep(100 * time.Microsecond)
		}
		time.Sleep(8 * time.Millisecond)
		for range 1500 {
			p.Go(func(ctx context.Context) { task(ctx) })
		}
		p.Idle(context.Background())
		time.Sleep(5 * time.Second)
	}
	p.Close()
}
