package conformance_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stint-go/stint"
)

// When a call has returned, the counters of its limiter have all its tasks, through every
// entry point; the permits that were waited for are counted under a limit of one.
func TestLimiterCounts(t *testing.T) {
	const n = 100
	for _, limit := range []int{1, 4, 1000} {
		each(t, func(t *testing.T, e entryPoint) {
			l := stint.Limit(limit)
			e.run(bg, n, func(_ context.Context, i int) error {
				time.Sleep(time.Duration(i%3) * time.Millisecond)
				return []error{nil, nil, nil, errBoom, nil}[i%5]
			}, l, stint.KeepGoing())
			s := l.Stats()
			equal(t, "completed", s.Completed, n)
			if e.name != "First" { // which makes an error of each success, so that all tasks run
				equal(t, "failed", s.Failed, n/5)
			}
			equal(t, "refused", s.Refused, 0)
		})
	}
}

// A panic counts as failed; in a pool, with the tasks of its own methods and of groups.
func TestPoolCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := stint.Limit(2)
		p := stint.NewPool(l, stint.Queue(4), stint.OnPanic(func(*stint.PanicError) {}))
		hold := func(context.Context) { time.Sleep(time.Second) }
		for i := range 10 {
			equal(t, "accepted", p.TryGo(hold), i < 6)
		}
		p.Idle(bg)
		p.Go(func(context.Context) { panic("boom") })
		g := stint.NewGroup(bg, p, stint.KeepGoing())
		for range 4 {
			g.Go(func(context.Context) error { return errBoom })
		}
		g.Wait()
		recovered(func() {
			stint.Each(bg, indexes(30), func(context.Context, int) error { panic("boom") }, p)
		})
		p.Close()
		s := p.Stats()
		equal(t, "failed", s.Failed, 5)
		equal(t, "refused", s.Refused, 4)
		if s.Completed < 11 || s.Completed > 13 { // and the helpers of Each
			t.Errorf("completed %d, want 11", s.Completed)
		}
		of := l.Stats()
		equal(t, "refused by the limiter", of.Refused, 4)
		if of.Failed < 6 || of.Failed > 7 || of.Completed < 12 {
			t.Errorf("the limiter has %+v", of)
		}
	})
}

// Do and TryDo count as tasks, a refusal as refused, and a permit that comes late as waited
// for.
func TestDoCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := stint.Limit(1)
		done := begin(func() error {
			return doing(l)(bg, 3, func(context.Context, int) error { time.Sleep(time.Second); return nil })
		})
		synctest.Wait()
		equal(t, "error", l.TryDo(bg, sleep(0)), stint.ErrBusy)
		equal(t, "error", <-done, nil)
		l.Do(bg, func(context.Context) error { return errBoom })
		recovered(func() { l.Do(bg, func(context.Context) error { panic("boom") }) })
		s := l.Stats()
		equal(t, "completed, failed, waited, refused", [4]uint64{s.Completed, s.Failed, s.Waited, s.Refused}, [4]uint64{5, 2, 2, 1})
	})
}

// The limiter of a pool or group counts a long task when it ends, although others are queued.
func TestLongTasksCountAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := stint.Limit(1)
		g := stint.NewGroup(bg, l, stint.KeepGoing())
		for i := range 40 {
			g.Go(func(context.Context) error { time.Sleep(time.Minute); return []error{nil, errBoom}[i%2] })
		}
		time.Sleep(time.Second)
		for i := range uint64(40) {
			s := l.Stats()
			equal(t, "completed, failed", [2]uint64{s.Completed, s.Failed}, [2]uint64{i, i / 2})
			time.Sleep(time.Minute)
		}
		g.Wait()
		equal(t, "completed", l.Stats().Completed, 40)
	})
}
