package errgroup_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stint-go/stint/errgroup"
	"github.com/stint-go/stint/internal/testkit"
)

var (
	errOne = errors.New("one")
	errTwo = errors.New("two")
)

// rounds are results of tasks.
var rounds = [][]error{
	{},
	{nil},
	{errOne},
	{errOne, nil},
	{nil, errOne, nil, errTwo},
}

// first returns the first error of a list.
func first(errs []error) error {
	i := slices.IndexFunc(errs, func(err error) bool { return err != nil })
	if i < 0 {
		return nil
	}
	return errs[i]
}

func TestZeroGroupKeepsTheFirstError(t *testing.T) {
	for _, errs := range rounds {
		var g errgroup.Group
		for i, err := range errs {
			g.Go(func() error { return err })
			want := first(errs[:i+1])
			for range 2 {
				if got := g.Wait(); got != want {
					t.Errorf("after %v: Wait returned %v, want %v", errs[:i+1], got, want)
				}
			}
		}
		if got := g.Wait(); got != first(errs) {
			t.Errorf("after all of %v: Wait returned %v", errs, got)
		}
	}
}

func TestTheContextEndsWithTheFirstError(t *testing.T) {
	for _, errs := range rounds {
		g, ctx := errgroup.WithContext(context.Background())
		for _, err := range errs {
			g.Go(func() error { return err })
		}
		if ctx.Err() != nil && first(errs) == nil {
			t.Errorf("%v: the context ended before Wait", errs)
		}
		got := g.Wait()
		if (got == nil) != (first(errs) == nil) {
			t.Errorf("%v: Wait returned %v", errs, got)
		}
		want := got
		if got == nil {
			want = context.Canceled
		}
		if cause := context.Cause(ctx); cause != want {
			t.Errorf("%v: the cause is %v, want %v", errs, cause, want)
		}
	}
}

func TestTasksRunAfterAnError(t *testing.T) {
	g, ctx := errgroup.WithContext(context.Background())
	g.SetLimit(1)
	var ran int
	for range 10 {
		g.Go(func() error { ran++; return errOne }) // one at a time: the limit makes it safe
	}
	<-ctx.Done()
	if err := g.Wait(); err != errOne || ran != 10 {
		t.Errorf("%d tasks ran, and Wait returned %v", ran, err)
	}
}

func TestWithContextEndsWithItsParent(t *testing.T) {
	parent, cancel := context.WithCancelCause(context.Background())
	g, ctx := errgroup.WithContext(parent)
	cancel(errTwo)
	g.Go(func() error { <-ctx.Done(); return ctx.Err() })
	if err := g.Wait(); err != context.Canceled || context.Cause(ctx) != errTwo {
		t.Errorf("Wait returned %v, and the cause is %v", err, context.Cause(ctx))
	}
}

func TestTryGoCountsExactly(t *testing.T) {
	for _, limit := range []int{1, 2, 3, 4, 42, 1000} {
		synctest.Test(t, func(t *testing.T) {
			var g errgroup.Group
			g.SetLimit(limit)
			for range 3 {
				release := make(chan struct{})
				for i := range limit {
					if !g.TryGo(func() error { <-release; return nil }) {
						t.Fatalf("limit %d: refused task %d", limit, i)
					}
				}
				for range 3 {
					if g.TryGo(func() error { return nil }) {
						t.Fatalf("limit %d: took one more", limit)
					}
				}
				release <- struct{}{}
				synctest.Wait()
				if !g.TryGo(func() error { <-release; return nil }) {
					t.Errorf("limit %d: refused a task after one had ended", limit)
				}
				if g.TryGo(func() error { return nil }) {
					t.Errorf("limit %d: took two tasks after one had ended", limit)
				}
				close(release)
				g.Wait()
			}
		})
	}
}

func TestTryGoWithoutLimitAlwaysStarts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var g errgroup.Group
		release := make(chan struct{})
		var running atomic.Int32
		for range 100 {
			if !g.TryGo(func() error { running.Add(1); <-release; return nil }) {
				t.Fatal("refused")
			}
		}
		synctest.Wait()
		if n := running.Load(); n != 100 {
			t.Errorf("%d tasks run, want 100", n)
		}
		close(release)
		g.Wait()
	})
}

func TestNeverAboveTheLimit(t *testing.T) {
	for _, limit := range []int{1, 2, 3, 4, 10, 100} {
		synctest.Test(t, func(t *testing.T) {
			var g errgroup.Group
			var running testkit.Gauge
			g.SetLimit(limit)
			for i := range 20 * limit {
				g.Go(func() error {
					running.Enter()
					defer running.Leave()
					time.Sleep(time.Duration(1+i%7) * time.Millisecond)
					return nil
				})
			}
			g.Wait()
			if most := running.Max(); most != limit {
				t.Errorf("limit %d: %d tasks ran at once", limit, most)
			}
		})
	}
}

func TestGoReturnsWhenItsTaskIsActive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var g errgroup.Group
		g.SetLimit(2)
		begin := time.Now()
		var returned []time.Duration
		for i := range 6 {
			g.Go(func() error { time.Sleep(time.Duration(i+1) * time.Second); return nil })
			returned = append(returned, time.Since(begin))
		}
		// The tasks end at 1, 2, 4, 6, 9 and 12 s.
		want := []time.Duration{0, 0, 1 * time.Second, 2 * time.Second, 4 * time.Second, 6 * time.Second}
		if !slices.Equal(returned, want) {
			t.Errorf("Go returned after %v, want %v", returned, want)
		}
		g.Wait()
		if d := time.Since(begin); d != 12*time.Second {
			t.Errorf("Wait returned after %v, want 12s", d)
		}
	})
}

func TestSubmittersGoOnInTheirOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var g errgroup.Group
		g.SetLimit(1)
		release := make(chan struct{})
		var started, returned []int // the order of tasks, and of submitters
		g.Go(func() error { <-release; return nil })
		for i := range 10 {
			go func() {
				g.Go(func() error {
					started = append(started, i)
					synctest.Wait() // until Go has returned for this task
					return nil
				})
				returned = append(returned, i)
			}()
			synctest.Wait()
		}
		close(release)
		g.Wait()
		synctest.Wait()
		want := []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}
		if !slices.Equal(started, want) || !slices.Equal(returned, want) {
			t.Errorf("started %v, returned %v", started, returned)
		}
	})
}

func TestLimitZero(t *testing.T) {
	for _, raised := range []int{1, 2, 5, -1} {
		synctest.Test(t, func(t *testing.T) {
			var g errgroup.Group
			g.SetLimit(0)
			if g.TryGo(func() error { return nil }) {
				t.Error("TryGo started a task")
			}
			var ran atomic.Int32
			release := make(chan struct{})
			for range 3 {
				go g.Go(func() error { ran.Add(1); <-release; return nil })
			}
			synctest.Wait()
			g.SetLimit(0)
			synctest.Wait()
			if n := ran.Load(); n != 0 {
				t.Errorf("%d tasks ran under a limit of 0", n)
			}
			g.SetLimit(raised)
			synctest.Wait()
			want := raised
			if raised < 0 || raised > 3 {
				want = 3
			}
			if n := ran.Load(); int(n) != want {
				t.Errorf("%d tasks run under a limit of %d, want %d", n, raised, want)
			}
			close(release)
			synctest.Wait()
			g.Wait()
			if n := ran.Load(); n != 3 {
				t.Errorf("%d of 3 tasks ran", n)
			}
		})
	}
}

func TestSetLimitWhileTasksAreActive(t *testing.T) {
	for _, before := range []int{-1, 1, 5} {
		for _, after := range []int{0, 1, 5} {
			synctest.Test(t, func(t *testing.T) {
				var g errgroup.Group
				if before >= 0 {
					g.SetLimit(before)
				}
				release := make(chan struct{})
				g.Go(func() error { <-release; return nil })
				want := fmt.Sprintf("errgroup: Group.SetLimit(%d): 1 tasks of the group are active", after)
				if got := fmt.Sprint(testkit.Recovered(func() { g.SetLimit(after) })); got != want {
					t.Errorf("SetLimit panicked with %q, want %q", got, want)
				}
				close(release)
				g.Wait()
				g.SetLimit(after)
			})
		}
	}
}

func TestTheLimitMayBeLiftedAtAnyTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var g errgroup.Group
		g.SetLimit(2)
		release := make(chan struct{})
		var running atomic.Int32
		for range 10 {
			go g.Go(func() error { running.Add(1); <-release; return nil })
		}
		synctest.Wait()
		if n := running.Load(); n != 2 {
			t.Errorf("%d tasks run, want 2", n)
		}
		g.SetLimit(-1)
		synctest.Wait()
		if n := running.Load(); n != 10 {
			t.Errorf("%d tasks run without a limit, want 10", n)
		}
		g.Go(func() error { return nil })
		close(release)
		g.Wait()
		g.SetLimit(1)
	})
}

func TestTasksMayWaitForEachOther(t *testing.T) {
	for _, n := range []int{2, 3, 4, 5, 10, 1000} {
		synctest.Test(t, func(t *testing.T) {
			var g errgroup.Group
			next := make(chan struct{})
			close(next)
			for range n { // each waits for the next one
				mine := make(chan struct{})
				after := next
				g.Go(func() error { <-mine; return nil })
				g.Go(func() error { <-after; close(mine); return nil })
				next = mine
			}
			g.Wait()
		})
	}
}

func TestTasksMayStartTasks(t *testing.T) {
	for _, limit := range []int{-1, 200} {
		var g errgroup.Group
		g.SetLimit(limit)
		var ran atomic.Int32
		var tree func(depth int) error
		tree = func(depth int) error {
			ran.Add(1)
			for range 2 {
				if depth > 0 && !g.TryGo(func() error { return tree(depth - 1) }) {
					tree(depth - 1)
				}
			}
			return nil
		}
		g.Go(func() error { return tree(9) })
		g.Wait()
		if n := ran.Load(); n != 1023 {
			t.Errorf("%d tasks ran, want 1023", n)
		}
	}
}

func TestGroupIsUsedAgain(t *testing.T) {
	var g errgroup.Group
	for i, n := range []int{1, 3, 100, 2, 5000, 1} {
		var ran atomic.Int32
		if i%2 == 1 {
			g.SetLimit(n)
		}
		for range n {
			g.Go(func() error { ran.Add(1); return nil })
		}
		if err := g.Wait(); err != nil || int(ran.Load()) != n {
			t.Errorf("round %d: %d of %d tasks ran, and Wait returned %v", i, ran.Load(), n, err)
		}
		if i%2 == 1 {
			g.SetLimit(-1)
		}
	}
}

func TestSeveralMayWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var g errgroup.Group
		g.Go(func() error { time.Sleep(time.Hour); return errOne })
		var told atomic.Int32
		for range 10 {
			go func() {
				if g.Wait() == errOne {
					told.Add(1)
				}
			}()
		}
		g.Wait()
		synctest.Wait()
		if n := told.Load(); n != 10 {
			t.Errorf("%d of 10 were told the error", n)
		}
	})
}

func TestBadArguments(t *testing.T) {
	var nobody context.Context
	var g errgroup.Group
	g.SetLimit(0) // a nil function must not wait
	for want, f := range map[string]func(){
		"errgroup: Group.Go: nil function":    func() { g.Go(nil) },
		"errgroup: Group.TryGo: nil function": func() { g.TryGo(nil) },
		"errgroup: WithContext: nil context":  func() { errgroup.WithContext(nobody) },
	} {
		if got := testkit.Recovered(f); got != want {
			t.Errorf("panicked with %v, want %q", got, want)
		}
	}
}

// The original takes 64 bytes.
func TestGroupIsSmall(t *testing.T) {
	if n := reflect.TypeFor[errgroup.Group]().Size(); n > 64 {
		t.Errorf("a Group takes %d bytes, want at most 64", n)
	}
}

// Of tasks that fail together, the one whose error Wait returns has cancelled the context.
func TestCauseIsTheErrorOfWait(t *testing.T) {
	for range 20000 {
		g, ctx := errgroup.WithContext(context.Background())
		for i := range 4 {
			g.Go(func() error { return fmt.Errorf("task %d", i) })
		}
		if err := g.Wait(); context.Cause(ctx) != err {
			t.Fatalf("Wait returned %v, the cause is %v", err, context.Cause(ctx))
		}
	}
}
