package before_test

import (
	"context"
	"errors"
	"reflect"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/alitto/pond/v2"
	"github.com/destel/rill"
	"github.com/panjf2000/ants/v2"
	"github.com/sourcegraph/conc/iter"
	"github.com/sourcegraph/conc/pool"
)

var errTask = errors.New("task failed")

// want reports a difference.
func want[T any](t *testing.T, what string, got, want T) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

func TestConcLeavesOutWhatFailed(t *testing.T) {
	half := func(n int) (int, error) {
		if n%2 != 0 {
			return n, errTask
		}
		return n / 2, nil
	}
	p := pool.NewWithResults[int]().WithMaxGoroutines(1).WithErrors()
	for _, n := range []int{2, 3, 8} {
		p.Go(func() (int, error) { return half(n) })
	}
	results, err := p.Wait()
	want(t, "results of a pool", results, []int{1, 4})
	want(t, "it says why", errors.Is(err, errTask), true)

	results, err = iter.MapErr([]int{2, 3, 8}, func(n *int) (int, error) { return half(*n) })
	want(t, "results of MapErr", results, []int{1, 3, 4})
	want(t, "it says why", errors.Is(err, errTask), true)
}

func TestConcJoinsErrorsAsTheyCome(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := pool.New().WithErrors()
		p.Go(func() error { time.Sleep(2 * time.Second); return errors.New("slow") })
		p.Go(func() error { time.Sleep(time.Second); return errors.New("quick") })
		want(t, "Wait", p.Wait().Error(), "quick\nslow")
	})
}

func TestConcGoesOnAfterAPanic(t *testing.T) {
	p := pool.New().WithMaxGoroutines(1).WithContext(t.Context()).WithCancelOnError()
	ran := false
	p.Go(func(context.Context) error { return errTask })
	p.Go(func(context.Context) error { panic("boom") })
	p.Go(func(context.Context) error { ran = true; return nil })
	defer func() {
		want(t, "panicked", recover() != nil, true)
		want(t, "the next task ran", ran, true)
	}()
	p.Wait()
}

func TestAntsReleaseLeavesTasksBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, err := ants.NewPool(1)
		want(t, "error", err, nil)
		var ended atomic.Bool
		p.Submit(func() { time.Sleep(time.Minute); ended.Store(true) })
		waited := make(chan error, 1)
		go func() { waited <- p.Submit(func() {}) }()
		synctest.Wait()
		want(t, "ReleaseTimeout", p.ReleaseTimeout(time.Second), ants.ErrTimeout)
		want(t, "the task has ended", ended.Load(), false)
		want(t, "Submit", <-waited, ants.ErrPoolClosed)
		time.Sleep(time.Hour) // the bubble must not end before it
	})
}

func TestPondHasOneQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := pond.NewPool(1)
		long, short := p.NewGroup(), p.NewGroup()
		for range 10 {
			long.Submit(func() { time.Sleep(time.Second) })
		}
		start := time.Now()
		want(t, "Wait", short.Submit(func() { time.Sleep(time.Second) }).Wait(), nil)
		want(t, "a task behind ten", time.Since(start), 11*time.Second)
	})
}

func TestRillRunsNothingOnNoGoroutines(t *testing.T) {
	calls := 0
	err := rill.ForEach(rill.FromSlice([]int{1, 2}, nil), 0, func(int) error { calls++; return nil })
	want(t, "ForEach", err, nil)
	want(t, "calls", calls, 0)
}
