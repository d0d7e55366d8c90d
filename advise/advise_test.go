package advise

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stint-go/stint"
)

// A world has items that wait, and items that take one of some places, in virtual time.
type world struct {
	wait  func(i int) time.Duration // without a place
	serve time.Duration             // with a place
	of    int                       // places
	cpu   float64                   // of the time with a place

	places chan bool // in the bubble

	mu                sync.Mutex
	calls             map[int]int // of each item
	running           map[int]bool
	all, most, broken int // calls, the most at once, and of an item that was running
	used              time.Duration
}

func newWorld(places int, wait, serve time.Duration) *world {
	return &world{wait: func(int) time.Duration { return wait }, serve: serve, of: places, calls: map[int]int{}, running: map[int]bool{}}
}

func (w *world) call(_ context.Context, i int) error {
	w.mu.Lock()
	if w.all, w.calls[i] = w.all+1, w.calls[i]+1; w.running[i] {
		w.broken++
	}
	w.running[i] = true
	w.most = max(w.most, len(w.running))
	w.mu.Unlock()
	wait := w.wait(i)
	time.Sleep(wait)
	if w.serve > 0 {
		w.places <- true
		time.Sleep(w.serve)
		<-w.places
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.running, i)
	w.used += time.Duration(0.01*float64(wait+w.serve) + w.cpu*float64(w.serve))
	return nil
}

// advised returns the report on a world, and how long it took.
func advised(t *testing.T, o Options, w *world, n int) (r *Report, took time.Duration) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		w.places = make(chan bool, w.of)
		o.own = func() time.Duration {
			w.mu.Lock()
			defer w.mu.Unlock()
			return w.used
		}
		var err error
		if r, err = o.Run(t.Context(), n, w.call); err != nil {
			t.Error(err)
		}
		took = time.Since(began)
	})
	if r.Calls != w.all || w.broken > 0 {
		t.Errorf("the report has %d calls of %d; %d of an item that was running", r.Calls, w.all, w.broken)
	}
	return r, took
}

// The places are CPUs if the items compute with them.
func TestAnswers(t *testing.T) {
	const ms = time.Millisecond
	cpus := runtime.GOMAXPROCS(0)
	uneven := newWorld(1, 0, 0)
	uneven.wait = func(i int) time.Duration {
		return 10*ms + time.Duration(rand.New(rand.NewPCG(1, uint64(i))).IntN(990))*ms
	}
	long, half0 := newWorld(1, 0, 0), newWorld(1, 0, 0)
	long.wait = func(i int) time.Duration { return 10*ms + time.Duration(i/49*9990)*ms }
	half0.wait = func(i int) time.Duration { return time.Duration(i%2) * 10 * ms }
	computing := newWorld(cpus, 0, 50*ms)
	half := newWorld(cpus, 10*ms, 10*ms)
	computing.cpu, half.cpu = 1, 1
	for _, c := range []struct {
		name     string
		world    *world
		n        int
		work     Work
		answer   Answer
		from, to int // the limit
		seconds  int
	}{
		{"waits", newWorld(1, 200*ms, 0), 50, Waits, Yes, 50, 50, 10},
		{"waits for a second", newWorld(1, time.Second, 0), 50, Waits, Yes, 50, 50, 25},
		{"waits for ten seconds", newWorld(1, 10*time.Second, 0), 50, Waits, Yes, 2, 50, 80},
		{"uneven", uneven, 50, Waits, Yes, 32, 50, 30},
		{"one long item", long, 50, Waits, No, 1, 1, 60},
		{"some items return at once", half0, 50, Waits, Yes, 16, 50, 60},
		{"server", newWorld(8, 0, 20*ms), 100, Waits, Yes, 8, 8, 10},
		{"one place", newWorld(1, 0, 20*ms), 100, Waits, No, 1, 1, 10},
		{"mostly one place", newWorld(1, 1*ms, 20*ms), 100, Waits, No, 1, 1, 60},
		{"computes", computing, 100, Computes, map[bool]Answer{false: No, true: Yes}[cpus > 1], cpus, cpus, 10},
		{"computes and waits", half, 200, Both, Yes, cpus, 3 * cpus, 10},
		{"two items", newWorld(2, 0, 200*ms), 2, Waits, Yes, 2, 2, 10},
		{"one item", newWorld(2, 0, 200*ms), 1, Waits, No, 1, 1, 10},
		{"no items", newWorld(2, 0, 200*ms), 0, Unknown, No, 1, 1, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, took := advised(t, Options{}, c.world, c.n)
			if r.Work != c.work || r.Answer != c.answer || r.Limit < c.from || r.Limit > c.to || took > time.Duration(c.seconds)*time.Second {
				t.Errorf("after %v %s", took, r)
			}
			if c.world.most > max(1, c.n) {
				t.Errorf("%d at once, of %d items", c.world.most, c.n)
			}
		})
	}
}

// The server of a limit has a steady state: the calls that come first do not make it look faster.
func TestThroughputAtLimits(t *testing.T) {
	r, _ := advised(t, Options{}, newWorld(8, 0, 20*time.Millisecond), 200)
	for _, m := range r.Models {
		want := float64(min(m.Limit, 8))
		wait := 20 * time.Millisecond * time.Duration(max(8, m.Limit)) / 8
		// Of calls that end and begin at the same instant, one may be served a round earlier than another.
		if m.Limit > 0 && (math.Abs(m.Speedup.Value/want-1) > 0.05 || m.P50 != wait || math.Abs(m.PerSecond/(50*want)-1) > 0.05) {
			t.Errorf("%+v, want a speedup of %v, and %v", m, want, wait)
		}
	}
	if r.Best.Limit != 8 && r.Best.Name != "stint.Range" || len(r.Models) < 6 {
		t.Errorf("%s", r)
	}
}

func TestOnce(t *testing.T) {
	for _, n := range []int{2, 10, 50, 500} {
		w := newWorld(1, 200*time.Millisecond, 0)
		r, _ := advised(t, Options{Once: true}, w, n)
		for i, calls := range w.calls {
			if calls > 1 {
				t.Errorf("of %d, item %d is called %d times", n, i, calls)
			}
		}
		if n >= 50 && (r.Answer != Yes || r.Limit < 8) || n == 2 && r.Answer != NotSure {
			t.Errorf("%s", r)
		}
	}
}

func TestMost(t *testing.T) {
	for most := 1; most < 12; most++ {
		w := newWorld(1, 20*time.Millisecond, 0)
		r, _ := advised(t, Options{Most: most}, w, 100)
		if w.most != most || r.Limit != most {
			t.Errorf("%d at once, and limit %d, want %d", w.most, r.Limit, most)
		}
	}
}

// The first call of an item takes longer: it fills a cache.
func TestFirstCallIsSlow(t *testing.T) {
	for _, first := range []time.Duration{0, 6, 10, 20, 23, 100, 180} {
		for _, places := range []int{1, 4} {
			w := newWorld(places, 0, 20*time.Millisecond)
			w.wait = func(i int) time.Duration {
				w.mu.Lock()
				defer w.mu.Unlock()
				if w.calls[i] == 1 {
					return first * time.Millisecond
				}
				return 0
			}
			r, _ := advised(t, Options{}, w, 1000)
			noted := strings.Contains(r.String(), "The first call of an item took longer")
			if want := map[int]Answer{1: No, 4: Yes}[places]; r.Answer != want || r.Limit != places || first > 0 != noted {
				t.Errorf("%d places, the first call %d ms longer: %s", places, first, r)
			}
		}
	}
}

// More calls make it slower for all.
func TestSlowerBeyond(t *testing.T) {
	w := newWorld(1, 0, 0)
	w.wait = func(int) time.Duration {
		w.mu.Lock()
		defer w.mu.Unlock()
		n := time.Duration(len(w.running))
		return 20*time.Millisecond + n*n*time.Millisecond
	}
	if r, _ := advised(t, Options{}, w, 200); r.Answer != Yes || r.Limit != 4 {
		t.Errorf("%s", r)
	}
}

func TestBudgetAndContextEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		random := rand.New(rand.NewPCG(1, 2))
		var mu sync.Mutex
		r, err := Options{Budget: 30 * time.Second, own: func() time.Duration { return time.Since(began) / 100 }}.Run(t.Context(), 50, func(context.Context, int) error {
			mu.Lock()
			wait := time.Duration(random.ExpFloat64() * float64(2*time.Second))
			mu.Unlock()
			time.Sleep(wait)
			return nil
		})
		if took := time.Since(began); err != nil || r.Answer == No || took > 50*time.Second {
			t.Errorf("after %v: %v, %s", took, err, r)
		}
	})
	enough := errors.New("enough")
	for _, after := range []int{0, 1, 2, 10, 100} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			w := newWorld(1, 20*time.Millisecond, 0)
			if after == 0 {
				cancel(enough)
			}
			r, err := Run(ctx, 50, func(ctx context.Context, i int) error {
				if err := w.call(ctx, i); err != nil {
					return err
				}
				w.mu.Lock()
				defer w.mu.Unlock()
				if w.all >= after {
					cancel(enough)
				}
				return ctx.Err()
			})
			if err != enough || r.Reason == "" || w.all > 2*after+2 || strings.Contains(r.String(), "failed") {
				t.Errorf("%d calls, want about %d; %v, %s", w.all, after, err, r)
			}
		})
	}
}

// A failure ends the measuring, wherever it happens, and the report has what is known.
func TestFailures(t *testing.T) {
	failure := errors.New("failure")
	for _, c := range []struct {
		name string
		fail func() error
		want func(err error, panicked any) bool
	}{
		{"error", func() error { return failure }, func(err error, _ any) bool { return err == failure }},
		{"panic", func() error { panic("boom") }, func(_ error, v any) bool { return strings.Contains(fmt.Sprint(v), "boom") }},
		{"Goexit", func() error { runtime.Goexit(); return nil }, func(err error, v any) bool { return err == stint.ErrGoexit || err == nil && v == nil }},
	} {
		for _, at := range []int{1, 2, 5, 20, 100, 300} {
			for _, wait := range []time.Duration{0, 20 * time.Millisecond} { // short and long calls
				var report *Report
				var err error
				var panicked any
				var calls atomic.Int64
				synctest.Test(t, func(t *testing.T) {
					done := make(chan bool)
					go func() {
						defer close(done)
						defer func() { panicked = recover() }()
						report, err = Run(t.Context(), 400, func(context.Context, int) error {
							time.Sleep(wait + 50*time.Microsecond)
							if calls.Add(1) == int64(at) {
								return c.fail()
							}
							return nil
						})
					}()
					<-done
				})
				if !c.want(err, panicked) || c.name == "error" && report == nil || calls.Load() > int64(at)+512 {
					t.Errorf("%s in call %d of %v: %v, %v; %d calls", c.name, at, wait, err, panicked, calls.Load())
				}
			}
		}
	}
}

// Short calls are measured in lists, with the models that a program would use.
func TestShortCalls(t *testing.T) {
	sums := make([]int, 200_000)
	f := func(_ context.Context, i int) error { // a race, if an item ran twice at the same time
		for k := range 50 {
			sums[i] += k
		}
		return nil
	}
	r, err := Options{Budget: 300 * time.Millisecond}.Run(t.Context(), len(sums), f)
	if names := names(r); err != nil || len(names) > 0 && names[0] != "loop" || r.Calls == 0 { // the machine may be busy
		t.Errorf("%v: %q, %s", err, names, r)
	}
	r, err = Run(t.Context(), 4, f)
	if err != nil || r.Answer != No || r.Best.Name != "loop" || !strings.Contains(r.Reason, "all items take ") {
		t.Errorf("%v, %s", err, r)
	}
	synctest.Test(t, func(t *testing.T) {
		if _, err := Run(t.Context(), len(sums), f); err == nil || !strings.Contains(err.Error(), "clock") {
			t.Errorf("in a bubble: %v", err)
		}
		var running, most atomic.Int64
		began := time.Now()
		r, err := Options{Most: 16, own: func() time.Duration { return time.Since(began) / 100 }}.Run(t.Context(), 500, func(context.Context, int) error {
			most.Store(max(most.Load(), running.Add(1)))
			time.Sleep(100 * time.Microsecond)
			running.Add(-1)
			return nil
		})
		if err != nil || r.Answer != Yes || r.Limit < 8 || most.Load() > 16 {
			t.Errorf("%v, %s", err, r)
		}
	})
}

// names returns the names of the models.
func names(r *Report) (names []string) {
	for _, m := range r.Models {
		names = append(names, m.Name)
	}
	return names
}

func TestStages(t *testing.T) {
	for _, c := range []struct {
		produce, consume time.Duration
		answer           Answer
	}{{5 * time.Millisecond, 5 * time.Millisecond, Yes}, {10 * time.Millisecond, time.Microsecond, No}, {50 * time.Microsecond, 50 * time.Microsecond, Yes}} {
		synctest.Test(t, func(t *testing.T) {
			var producing, consuming, broken atomic.Int64
			alone := func(running *atomic.Int64, d time.Duration) {
				if running.Add(1) > 1 {
					broken.Add(1)
				}
				time.Sleep(d)
				running.Add(-1)
			}
			r, err := Stages(t.Context(), 100, func(_ context.Context, i int) (int, error) {
				alone(&producing, c.produce)
				return i, nil
			}, func(_ context.Context, i int) error {
				alone(&consuming, c.consume)
				return nil
			})
			if err != nil || r.Answer != c.answer || broken.Load() > 0 {
				t.Errorf("%v; %d broken; %s", err, broken.Load(), r)
			}
			if got := names(r); !reflect.DeepEqual(got, []string{"loop", "stream.Buffer", "batches", "channel"}) {
				t.Errorf("%q", got)
			}
		})
	}
	failure := errors.New("failure")
	fail := func(_ context.Context, i int) error {
		if i == 60 {
			return failure
		}
		return nil
	}
	produce := func(ctx context.Context, i int) (int, error) { return i, nil }
	if _, err := Stages(t.Context(), 100, produce, fail); err != failure {
		t.Errorf("%v", err)
	}
	if _, err := Stages(t.Context(), 100, func(ctx context.Context, i int) (int, error) { return i, fail(ctx, i) }, func(context.Context, int) error { return nil }); err != failure {
		t.Errorf("%v", err)
	}
}

func TestBadArguments(t *testing.T) {
	var none context.Context
	call := func(context.Context, int) error { return nil }
	for want, bad := range map[string]func(){
		"advise: Run: n is -1":                    func() { _, _ = Run(t.Context(), -1, call) },
		"advise: Run: nil context":                func() { _, _ = Run(none, 1, call) },
		"advise: Run: nil function":               func() { _, _ = Run(t.Context(), 1, nil) },
		"advise: Run: n is 1, Budget -1ns":        func() { _, _ = Options{Budget: -1}.Run(t.Context(), 1, call) },
		"advise: Run: n is 1, Budget 0s, Most -2": func() { _, _ = Options{Most: -2}.Run(t.Context(), 1, call) },
		"advise: Stages: n is -1": func() {
			_, _ = Stages(t.Context(), -1, func(context.Context, int) (int, error) { return 0, nil }, call)
		},
		"advise: Stages: nil function": func() {
			_, _ = Stages(t.Context(), 1, func(context.Context, int) (int, error) { return 0, nil }, nil)
		},
	} {
		func() {
			defer func() {
				if v := recover(); !strings.HasPrefix(fmt.Sprint(v), want) {
					t.Errorf("got %v, want %s", v, want)
				}
			}()
			bad()
		}()
	}
}

// The interval of an estimate has the true ratio in 99 % of cases.
func TestEstimate(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{5, 10, 14, 40} {
		missed := 0
		for range 5_000 {
			alone, took := make([]float64, n), make([]float64, n)
			for i := range alone {
				item := 1 + random.Float64()
				alone[i], took[i] = 3*item*(1+0.1*random.NormFloat64()), item*(1+0.1*random.NormFloat64())
			}
			if e := estimate(alone, took); e.Lo > 3 || e.Hi < 3 {
				missed++
			}
		}
		if missed > 100 || n < 15 && missed < 20 {
			t.Errorf("%d of 5,000 intervals of %d samples miss the ratio, want about 50", missed, n)
		}
	}
	if e := estimate([]float64{3, 1}, []float64{1, 1}); e != (Estimate{Value: 2}) {
		t.Errorf("%v", e)
	}
	if e := estimate([]float64{4, 8, 2}, []float64{2, 4, 1}); e != (Estimate{2, 2, 2}) {
		t.Errorf("%v", e)
	}
}

func TestReport(t *testing.T) {
	r, _ := advised(t, Options{}, newWorld(8, 0, 20*time.Millisecond), 200)
	text, err := json.Marshal(r)
	var again Report
	if err == nil {
		err = json.Unmarshal(text, &again)
	}
	if err != nil || !reflect.DeepEqual(*r, again) {
		t.Errorf("%v: %s", err, text)
	}
	for _, want := range []string{
		"An item takes 20ms alone (p99 20ms), 200µs of it on a CPU: it waits.", "Does concurrency pay? yes: ", "\nlimit 8             400        8      20ms      20ms  █",
		"\n\terr := stint.Range(ctx, n, f", "\n- A plain loop does 50 items a second. ",
	} {
		if !strings.Contains(r.String(), want) {
			t.Errorf("no %q in\n%s", want, r)
		}
	}
}

// A server with few places serves those first that come last. The calls that are measured may be
// served before others: at one place and a limit of 4 they last twice as long as alone, and not
// four times.
func TestStarvingCalls(t *testing.T) {
	for _, places := range []int{1, 4} {
		synctest.Test(t, func(t *testing.T) {
			var mu sync.Mutex
			var waiting []chan bool
			busy, began := 0, time.Now()
			r, err := Options{own: func() time.Duration { return time.Since(began) / 100 }}.Run(t.Context(), 500, func(context.Context, int) error {
				mu.Lock()
				if busy == places {
					turn := make(chan bool)
					waiting = append(waiting, turn)
					mu.Unlock()
					<-turn
				} else {
					busy++
					mu.Unlock()
				}
				time.Sleep(20 * time.Millisecond)
				mu.Lock()
				defer mu.Unlock()
				if last := len(waiting) - 1; last >= 0 {
					close(waiting[last])
					waiting = waiting[:last]
				} else {
					busy--
				}
				return nil
			})
			if err != nil || (r.Answer == Yes) != (places > 1) {
				t.Errorf("%v, %s", err, r)
			}
			for _, m := range r.Models {
				if m.Speedup.Lo > 1.05*float64(places) || r.Answer == Yes && r.Best.Speedup.Value > 1.5*float64(places) {
					t.Errorf("with %d places, %s", places, r)
				}
			}
		})
	}
}

// One item is as long as many others, and the samples may lack it: the best speedup is still that
// of the list.
func TestOneLongItem(t *testing.T) {
	for _, long := range []time.Duration{500 * time.Millisecond, 3 * time.Second, 10 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			r, err := Options{own: func() time.Duration { return time.Since(began) / 100 }}.Run(t.Context(), 200, func(_ context.Context, i int) error {
				if time.Sleep(20 * time.Millisecond); i == 137 {
					time.Sleep(long - 20*time.Millisecond)
				}
				return nil
			})
			if want := (199*0.02 + long.Seconds()) / long.Seconds(); err != nil || r.Answer != Yes || r.Best.Speedup.Value < 0.95*want || r.Best.Speedup.Value > 1.05*want {
				t.Errorf("want %v; %v, %s", want, err, r)
			}
		})
	}
}

// The first call is slow, the others are short; there are more items than can be called.
func TestSlowStartOfAHugeList(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var first sync.Once
		began := time.Now()
		o := Options{Budget: 6 * time.Second, Most: 8, own: func() time.Duration { return time.Since(began) / 100 }}
		r, err := o.Run(t.Context(), 1e9, func(context.Context, int) error {
			first.Do(func() { time.Sleep(5 * time.Millisecond) })
			time.Sleep(500 * time.Microsecond)
			return nil
		})
		if err != nil || r.Answer != Yes || r.Item.Wall != 500*time.Microsecond || strings.Contains(r.String(), "first call") {
			t.Errorf("%v, %s", err, r)
		}
		if r, err = o.Run(t.Context(), 1e9, func(context.Context, int) error { time.Sleep(2 * time.Millisecond); return nil }); err != nil || r.Answer != Yes {
			t.Errorf("%v, %s", err, r)
		}
		if took := time.Since(began); took > 14*time.Second {
			t.Errorf("took %v", took)
		}
	})
}

// A server refuses a tenth call: the code keeps below that.
func TestRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var running atomic.Int64
		began, refused := time.Now(), errors.New("refused")
		r, err := Options{own: func() time.Duration { return time.Since(began) / 100 }}.Run(t.Context(), 100, func(context.Context, int) error {
			defer running.Add(-1)
			if running.Add(1) > 9 {
				return refused
			}
			time.Sleep(20 * time.Millisecond)
			return nil
		})
		if err != refused || r.Answer != Yes || r.Limit != 8 || r.Best.Limit != 8 || !strings.Contains(r.String(), "A call failed with up to 1") {
			t.Errorf("%v, %s", err, r)
		}
	})
}

func TestOneCPU(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	r, err := Options{Budget: 4 * time.Second}.Run(t.Context(), 100, func(_ context.Context, i int) error {
		for range 2_000_000 {
			i = i*7 + 1
		}
		runtime.KeepAlive(i)
		return nil
	})
	if err != nil || r.Answer == Yes && r.Work == Computes {
		t.Errorf("%v, %s", err, r)
	}
}
