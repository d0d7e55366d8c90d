package advise

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/lab/bench"
)

// short are options with a CPU clock that runs at a part of the time, since other tests and
// programs may run.
func short(budget time.Duration, share float64) Options {
	began := time.Now()
	return Options{Budget: budget, CPU: func() (time.Duration, bool) { return time.Duration(1 + share*float64(time.Since(began))), true }}
}

// ran returns the advice of a run without an error.
func ran(t *testing.T, o Options, n int, f func(int)) *Advice {
	t.Helper()
	a, err := o.Run(t.Context(), n, f)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// names returns the names of the rows.
func names(a *Advice) []string {
	var out []string
	for _, r := range a.Rows {
		out = append(out, r.Name)
	}
	return out
}

func nap(int) { time.Sleep(2 * time.Millisecond) }

func TestWaitingPays(t *testing.T) {
	a := ran(t, short(3*time.Second, 0.01), 12, nap)
	if a.Answer != Yes || a.Best.Name == loopName || !strings.Contains(a.Best.Call, "stint.Range") || a.Work != Waits || a.Limit < 2 {
		t.Errorf("%s", a)
	}
	if got := names(a); slices.Contains(got, "limit-1") || !slices.Contains(got, "limit-2") || !slices.Contains(got, freeName) {
		t.Errorf("rows %q", got)
	}
	for _, want := range []string{"does concurrency pay? yes. ", "It waits: CPU time is 1 %", "must not depend on each other", "par.Reduce and par.Sort"} {
		if !strings.Contains(a.String(), want) {
			t.Errorf("no %q in\n%s", want, a)
		}
	}
}

func TestComputing(t *testing.T) {
	steps := bench.Steps(20 * time.Microsecond)
	f := func(int) { runtime.KeepAlive(bench.Spin(steps)) }
	if a := ran(t, short(300*time.Millisecond, 1), 10, f); a.Work != Computes || slices.Contains(names(a), parName) || !slices.Contains(names(a), "limit-1") {
		t.Errorf("by other processes: %s", a)
	}
	if a := ran(t, Options{Budget: 300 * time.Millisecond, own: short(0, 1).CPU}, 10, f); !slices.Contains(names(a), parName) {
		t.Errorf("%s", a)
	}
}

func TestTrivialDoesNotPay(t *testing.T) {
	sums := make([]int, 4)
	a := ran(t, short(time.Second, 1), 4, func(i int) { sums[i] += i })
	if a.Answer != No || a.Best.Name != loopName || !strings.Contains(a.Reason, "a goroutine pays from about 60µs") {
		t.Errorf("%s", a)
	}
}

func TestFewItemsAndNoClock(t *testing.T) {
	a := ran(t, Options{}, 0, func(int) { t.Error("called") })
	if a.Answer != No || a.Best != nil || !strings.HasPrefix(a.String(), "0 items.\n") {
		t.Errorf("0: %s", a)
	}
	a = ran(t, short(50*time.Millisecond, 1), 1, func(int) {})
	if a.Answer != No || !slices.Equal(names(a), []string{loopName}) {
		t.Errorf("1: %s", a)
	}
	a = ran(t, Options{Budget: 50 * time.Millisecond, CPU: func() (time.Duration, bool) { return 0, false }}, 2, func(int) {})
	if a.Work != Unknown || !strings.Contains(a.String(), "not known") {
		t.Errorf("no clock: %s", a)
	}
}

func TestMostIsKept(t *testing.T) {
	var running, most atomic.Int64
	o := short(300*time.Millisecond, 0.01)
	o.Most = 3
	a := ran(t, o, 12, func(int) {
		now := running.Add(1)
		for seen := most.Load(); now > seen && !most.CompareAndSwap(seen, now); seen = most.Load() {
		}
		time.Sleep(200 * time.Microsecond)
		running.Add(-1)
	})
	if got := most.Load(); got < 2 || got > 3 {
		t.Errorf("%d at once, want 3 at most, and some", got)
	}
	got := names(a)
	if !slices.Equal(got, []string{loopName, autoName, "limit-2", "limit-3"}) || !strings.Contains(a.Rows[1].Call, "stint.Auto(1, 3)") || a.Limit > 3 {
		t.Errorf("rows %q, limit %v", got, a.Limit)
	}
}

// Too slow for the budget: the answer has the budget that it takes.
func TestBudget(t *testing.T) {
	a := ran(t, short(time.Millisecond, 0.01), 100, func(int) { time.Sleep(20 * time.Millisecond) })
	if a.Answer != NotSure || a.Items != 2 || a.Item.N == 0 || a.Needed < 100*time.Millisecond {
		t.Errorf("%s", a)
	}
	if want := fmt.Sprintf("--budget %v", a.Needed); !strings.Contains(a.Reason, want) || len(a.Warnings) != 2 {
		t.Errorf("%q, %q: want %q", a.Reason, a.Warnings, want)
	}
	for _, c := range []struct {
		item  time.Duration
		first int // items whose time determines the budget
		want  time.Duration
	}{{0, 10, minBudget}, {300 * time.Millisecond, 1, maxBudget}} {
		ctx, cancel := context.WithCancel(t.Context())
		calls := 0
		a, err := short(0, 0.01).Run(ctx, 10, func(int) {
			if calls++; calls > c.first {
				cancel()
			}
			time.Sleep(c.item)
		})
		if cancel(); a.Budget != c.want || err == nil {
			t.Errorf("items of %v: %v, want %v; %v", c.item, a.Budget, c.want, err)
		}
	}
}

func TestContextEnds(t *testing.T) {
	enough := errors.New("enough")
	for _, at := range []int64{0, 1, 50, 800} {
		ctx, cancel := context.WithCancelCause(t.Context())
		if at == 0 {
			cancel(enough)
		}
		var calls atomic.Int64
		a, err := short(time.Minute, 0.01).Run(ctx, 10, func(int) {
			if calls.Add(1) == at {
				cancel(enough)
			}
			time.Sleep(50 * time.Microsecond)
		})
		cancel(nil)
		if !errors.Is(err, enough) || a == nil || a.String() == "" {
			t.Fatalf("after %d calls: %v, %v", at, a, err)
		}
		if late := calls.Load() - at; late > 256 || at == 0 && late > 0 {
			t.Errorf("%d calls after the end", late)
		}
	}
}

// recovered returns the value that f panics with.
func recovered(f func()) (v any) {
	defer func() { v = recover() }()
	f()
	return nil
}

func TestPanics(t *testing.T) {
	if v := recovered(func() { _, _ = Run(t.Context(), 5, func(int) { panic("boom") }) }); v != "boom" {
		t.Errorf("from the loop: %v", v)
	}
	var running atomic.Int64
	v := recovered(func() {
		_, _ = Run(t.Context(), 5, func(int) {
			defer running.Add(-1)
			if running.Add(1) > 1 {
				panic("two at once")
			}
			time.Sleep(time.Millisecond)
		})
	})
	if p, ok := v.(*stint.PanicError); !ok || p.Value != "two at once" {
		t.Errorf("concurrently: %v", v)
	}
	var none context.Context
	for _, call := range []func(){
		func() { _, _ = Run(none, 1, nap) },
		func() { _, _ = Run(t.Context(), 1, nil) },
		func() { _, _ = Run(t.Context(), -1, nap) },
		func() { _, _ = Options{Budget: -1}.Run(t.Context(), 1, nap) },
	} {
		if v := recovered(call); !strings.HasPrefix(fmt.Sprint(v), "advise: ") {
			t.Errorf("got %v", v)
		}
	}
}

// In a test of your own, t.Log(advice) shows the figures.
func ExampleRun() {
	fetch := func(i int) { time.Sleep(2 * time.Millisecond) }
	advice, err := Options{Budget: 300 * time.Millisecond}.Run(context.Background(), 4, fetch)
	if err != nil {
		panic(err)
	}
	fmt.Println(advice.N, "items, a function that", advice.Work)
	// advice.Answer says whether concurrency pays, advice.Best has the code to
	// write, and the text of advice has everything.

	// Output: 4 items, a function that waits
}
