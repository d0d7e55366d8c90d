package errgroup_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
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
var rounds = [][]error{{}, {nil}, {errOne}, {errOne, nil}, {nil, errOne, nil, errTwo}}

func TestZeroGroupKeepsTheFirstError(t *testing.T) {
	for _, errs := range rounds {
		var g errgroup.Group
		var want error
		for i := range len(errs) + 1 {
			if i > 0 {
				want = cmp.Or(want, errs[i-1])
				g.Go(func() error { return errs[i-1] })
			}
			if got := g.Wait(); got != want {
				t.Errorf("after %v: Wait returned %v, want %v", errs[:i], got, want)
			}
		}
	}
}

// The context ends with the error that Wait returns, also if tasks fail together, or in Wait.
func TestTheContextEndsWithTheFirstError(t *testing.T) {
	for i := range 2000 {
		errs := rounds[i%len(rounds)]
		g, ctx := errgroup.WithContext(context.Background())
		failing := false
		for _, err := range errs {
			failing = failing || err != nil
			g.Go(func() error { return err })
		}
		if ctx.Err() != nil && !failing {
			t.Errorf("%v: the context ended before Wait", errs)
		}
		err := g.Wait()
		if cause := context.Cause(ctx); (err != nil) != failing || cause != cmp.Or(err, context.Canceled) {
			t.Fatalf("%v: Wait returned %v, the cause is %v", errs, err, cause)
		}
	}
}

// started starts tasks until TryGo refuses one, at most 1,000, and returns how many.
func started(g *errgroup.Group, release chan struct{}) (n int) {
	for n < 1000 && g.TryGo(func() error { <-release; return nil }) {
		n++
	}
	return n
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
		if g.Wait(); time.Since(begin) != 12*time.Second {
			t.Errorf("Wait returned after %v, want 12s", time.Since(begin))
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
		submit := func(i int) {
			g.Go(func() error {
				started = append(started, i)
				synctest.Wait() // until Go has returned for this task
				return nil
			})
			returned = append(returned, i)
		}
		for i := range 10 {
			go submit(i)
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

// A Go that waits continues when SetLimit allows more. The limit may be lifted at any time.
func TestSetLimitAdmits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, c := range []struct{ before, after, running int }{{0, 1, 1}, {0, 2, 2}, {0, 100, 10}, {0, -1, 10}, {2, -1, 10}} {
			var g errgroup.Group
			g.SetLimit(c.before)
			var ran atomic.Int32
			release := make(chan struct{})
			for range 10 {
				go g.Go(func() error { ran.Add(1); <-release; return nil })
			}
			synctest.Wait()
			if ran.Load() != int32(c.before) || g.TryGo(func() error { return nil }) {
				t.Errorf("%+v: %d tasks have started, and TryGo one more", c, ran.Load())
			}
			g.SetLimit(c.after)
			synctest.Wait()
			if ran.Load() != int32(c.running) {
				t.Errorf("%+v: %d tasks have started", c, ran.Load())
			}
			close(release)
			synctest.Wait()
			g.Wait()
		}
	})
}

func TestSetLimitWhileTasksAreActive(t *testing.T) {
	for _, before := range []int{-1, 1, 5} {
		for _, after := range []int{0, 1, 5} {
			var g errgroup.Group
			g.SetLimit(before)
			release := make(chan struct{})
			g.Go(func() error { <-release; return nil })
			want := fmt.Sprintf("errgroup: Group.SetLimit(%d): 1 tasks of the group are active", after)
			if got := fmt.Sprint(testkit.Recovered(func() { g.SetLimit(after) })); got != want {
				t.Errorf("SetLimit panicked with %q, want %q", got, want)
			}
			close(release)
			g.Wait()
			g.SetLimit(after)
		}
	}
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
