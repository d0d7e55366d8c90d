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
	"github.com/stint-go/stint/lab/load"
	"github.com/stint-go/stint/lab/result"
)

// quick measures enough rounds for an interval, with short samples.
func quick(t *testing.T, n int, f func(int), change ...func(*options)) *Advice {
	t.Helper()
	o := collect([]Option{Budget(5 * time.Minute)})
	for _, c := range change {
		c(&o)
	}
	s := newSession(n, f, o)
	s.target, s.maxRounds = shortest, minIntervalRounds+1
	if err := s.measure(t.Context()); err != nil {
		t.Fatal(err)
	}
	return s.conclude(false)
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

// The CPU clock is slow, since other tests may run in the process.
func TestWaitingPays(t *testing.T) {
	began := time.Now()
	a := quick(t, 12, nap, func(o *options) { o.cpu = func() (time.Duration, bool) { return time.Since(began) / 100, true } })
	if a.Answer != result.Yes || a.Best == loopName || !strings.Contains(a.Call, "stint.Range") {
		t.Errorf("%s, %s, %q", a.Answer, a.Best, a.Call)
	}
	if a.Work != Waits {
		t.Errorf("it %s: %+v", a.Work, a.Share)
	}
	if a.Auto == nil || a.Auto.Limit.Median < 2 || a.Auto.Phase == "" {
		t.Errorf("auto: %+v", a.Auto)
	}
	if got := names(a); slices.Contains(got, "limit-1") || !slices.Contains(got, "limit-2") || !slices.Contains(got, freeName) || a.Highest == "" {
		t.Errorf("rows %q, highest %q", got, a.Highest)
	}
}

// The CPU clock follows the time, since a busy machine would make the function
// wait.
func TestComputing(t *testing.T) {
	steps, began := load.Steps(20*time.Microsecond), time.Now()
	a := quick(t, 10, func(int) { runtime.KeepAlive(load.Spin(steps)) },
		func(o *options) { o.cpu = func() (time.Duration, bool) { return time.Since(began), true } })
	if got := names(a); a.Work != Computes || !slices.Contains(got, parName) || !slices.Contains(got, "limit-1") {
		t.Errorf("it %s: %+v; rows %q", a.Work, a.Share, names(a))
	}
}

func TestProcessorTimeNotKnown(t *testing.T) {
	a := quick(t, 2, func(int) {}, func(o *options) { o.cpu = func() (time.Duration, bool) { return 0, false } })
	if a.Work != Unknown || !strings.Contains(a.String(), "not known") {
		t.Errorf("it %s: %s", a.Work, a)
	}
}

func TestTrivialDoesNotPay(t *testing.T) {
	sums := make([]int, 4)
	a := quick(t, 4, func(i int) { sums[i] += i })
	if a.Answer != result.No || a.Best != loopName || !strings.HasPrefix(a.Call, "for i := range n") {
		t.Errorf("%s, %s, %q", a.Answer, a.Best, a.Call)
	}
	if !strings.Contains(a.Highest, "limit-4 runs all") {
		t.Errorf("highest: %q", a.Highest)
	}
}

func TestNoItemAndOne(t *testing.T) {
	a, err := Run(t.Context(), 0, func(int) { t.Error("called") })
	if err != nil || a.Answer != result.No || len(a.Rows) != 0 || !strings.HasPrefix(a.String(), "0 items.") {
		t.Errorf("0: %v, %s", err, a)
	}
	a = quick(t, 1, func(i int) {
		if i != 0 {
			t.Errorf("called for %d", i)
		}
	})
	if a.Answer != result.No || !slices.Equal(names(a), []string{loopName}) {
		t.Errorf("1: %s", a)
	}
}

func TestMostIsKept(t *testing.T) {
	var running, most atomic.Int64
	a := quick(t, 12, func(i int) {
		now := running.Add(1)
		for seen := most.Load(); now > seen && !most.CompareAndSwap(seen, now); seen = most.Load() {
		}
		time.Sleep(200 * time.Microsecond)
		running.Add(-1)
	}, func(o *options) { o.most = 3 })
	if got := most.Load(); got < 2 || got > 3 {
		t.Errorf("%d at once, want 3 at most, and some", got)
	}
	if got := names(a); !slices.Contains(got, "stint.Auto") || !slices.Contains(got, "limit-3") || slices.Contains(got, freeName) {
		t.Errorf("rows %q", got)
	}
	if auto := a.row(autoName); auto == nil || !strings.Contains(auto.Call, "stint.Auto(1, 3)") {
		t.Errorf("row %+v", auto)
	}
	if a.Auto == nil || a.Auto.Limit.Median > 3 {
		t.Errorf("auto %+v", a.Auto)
	}
}

// Measurements of a longer list are dropped.
func TestListIsCut(t *testing.T) {
	s := newSession(8, func(int) {}, collect(nil))
	for _, n := range []int{8, 2} {
		s.useFirst(n)
		if err := s.explore(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	a := s.conclude(true)
	want := []string{loopName, freeName, parName, "limit-1", "limit-2"}
	if got := names(a); a.Items != 2 || !slices.Equal(got, want) || len(a.Result.Models) != len(want) || a.Rows[0].Time.N != 1 {
		t.Errorf("%d items, rows %q, %+v", a.Items, got, a.Rows)
	}
}

// The first item is timed, even if the goroutine was held up until the budget's share for that
// was over. Otherwise all items would seem to take no time.
func TestPilotTimesAnItem(t *testing.T) {
	s := newSession(100, func(int) { time.Sleep(20 * time.Millisecond) }, collect([]Option{Budget(1)}))
	if err := s.pilot(t.Context()); err != nil || s.item < 20e6 || s.list.n >= 100 {
		t.Errorf("%v: an item takes %v ns, %d are measured", err, s.item, s.list.n)
	}
}

// Too slow for the budget: only the first item's time is known.
func TestBudgetSpent(t *testing.T) {
	a, err := Run(t.Context(), 100, func(int) { time.Sleep(20 * time.Millisecond) }, Budget(time.Millisecond))
	if err != nil || len(a.Rows) != 0 || a.Answer != result.NotSure || a.Items >= a.N || a.Item.N != 1 {
		t.Errorf("%v, %s", err, a)
	}
	if got := kinds(a); !slices.Contains(got, Short) {
		t.Errorf("warnings %q", got)
	}
}

func TestContextEnds(t *testing.T) {
	maxRounds := errors.New("enough")
	for _, at := range []int64{0, 1, 50, 800} {
		ctx, cancel := context.WithCancelCause(t.Context())
		if at == 0 {
			cancel(maxRounds)
		}
		var calls atomic.Int64
		a, err := Run(ctx, 10, func(int) {
			if calls.Add(1) == at {
				cancel(maxRounds)
			}
			time.Sleep(50 * time.Microsecond)
		}, Budget(time.Minute))
		cancel(nil)
		if !errors.Is(err, maxRounds) || a == nil {
			t.Fatalf("after %d calls: %v, %v", at, a, err)
		}
		if late := calls.Load() - at; late > 256 || at == 0 && late > 0 {
			t.Errorf("%d calls after the end", late)
		}
		if len(a.Rows) > 0 && !slices.Contains(kinds(a), result.Interrupted) {
			t.Errorf("warnings %q", kinds(a))
		}
		if a.String() == "" {
			t.Error("no text")
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
	v := recovered(func() {
		_, _ = Run(t.Context(), 5, func(i int) {
			if i == 3 {
				panic("boom")
			}
		})
	})
	if v != "boom" {
		t.Errorf("from the loop: %v", v)
	}
	var running atomic.Int64
	v = recovered(func() {
		_, _ = Run(t.Context(), 5, func(i int) {
			defer running.Add(-1)
			if running.Add(1) > 1 {
				panic("two at once")
			}
			time.Sleep(time.Millisecond)
		})
	})
	if p, ok := v.(*stint.PanicError); !ok || p.Value != "two at once" {
		t.Errorf("side by side: %v", v)
	}
}

func TestBadArguments(t *testing.T) {
	f := func(int) {}
	var none context.Context
	for want, call := range map[string]func(){
		"advise: Run: nil context":              func() { _, _ = Run(none, 1, f) },
		"advise: Run: nil function":             func() { _, _ = Run(t.Context(), 1, nil) },
		"advise: Run: n = -1: want 0 or more":   func() { _, _ = Run(t.Context(), -1, f) },
		"advise: Budget(-1s): want more than 0": func() { Budget(-time.Second) },
		"advise: Most(1): want 2 or more":       func() { Most(1) },
		"advise: CPU: nil function":             func() { CPU(nil) },
		"advise: NewCommand: no command":        func() { _, _ = NewCommand(nil) },
	} {
		if got := recovered(call); got != want {
			t.Errorf("got %v, want %s", got, want)
		}
	}
}

// In a test of your own, t.Log(advice) shows the figures.
func ExampleRun() {
	fetch := func(i int) { time.Sleep(2 * time.Millisecond) }
	advice, err := Run(context.Background(), 4, fetch, Budget(300*time.Millisecond))
	if err != nil {
		panic(err)
	}
	fmt.Println(advice.N, "items, a function that", advice.Work)
	// advice.Answer says whether concurrency pays, advice.Call is the code to
	// write, and the text of advice has everything.

	// Output: 4 items, a function that waits
}
