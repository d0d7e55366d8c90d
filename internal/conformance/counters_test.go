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
	for _, e := range entryPoints {
		for _, limit := range []int{1, 4, 1000} {
			synctest.Test(t, func(t *testing.T) {
				l := stint.Limit(limit)
				e.run(context.Background(), n, func(_ context.Context, i int) error {
					time.Sleep(time.Duration(i%3) * time.Millisecond)
					if i%5 == 3 {
						return errBoom
					}
					return nil
				}, l, stint.KeepGoing())
				s := l.Stats()
				equal(t, e.name+": completed", s.Completed, n)
				if e.name != "First" { // which makes an error of each success, so that all tasks run
					equal(t, e.name+": failed", s.Failed, n/5)
				}
				equal(t, e.name+": refused", s.Refused, 0)
			})
		}
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
		p.Idle(context.Background())
		p.Go(func(context.Context) { panic("boom") })
		g := stint.NewGroup(context.Background(), p, stint.KeepGoing())
		for range 4 {
			g.Go(func(context.Context) error { return errBoom })
		}
		g.Wait()
		recovered(func() {
			stint.Each(context.Background(), indexes(30), func(context.Context, int) error { panic("boom") }, p)
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
		done := make(chan error)
		for range 3 {
			go func() {
				done <- l.Do(context.Background(), func(context.Context) error { time.Sleep(time.Second); return nil })
			}()
		}
		synctest.Wait()
		equal(t, "error", l.TryDo(context.Background(), func(context.Context) error { return nil }), stint.ErrBusy)
		for range 3 {
			<-done
		}
		l.Do(context.Background(), func(context.Context) error { return errBoom })
		recovered(func() { l.Do(context.Background(), func(context.Context) error { panic("boom") }) })
		s := l.Stats()
		want := stint.LimiterStats{Limit: 1, Phase: "fixed", Completed: 5, Failed: 2, Waited: 2, Refused: 1}
		s.History = nil
		if s.Completed != want.Completed || s.Failed != want.Failed || s.Waited != want.Waited || s.Refused != want.Refused {
			t.Errorf("got %+v, want %+v", s, want)
		}
	})
}

// Overload counts as a backoff.
func TestBackoffsCount(t *testing.T) {
	l := stint.Auto(1, 64, stint.Overload(func(error) bool { return true }))
	for range 2 { // one may be chance
		l.Do(context.Background(), func(context.Context) error { return errBoom })
	}
	equal(t, "backoffs", l.Stats().Backoffs, 1)
}

// The limiter of a pool or group counts a long task when it ends, although others are queued.
func TestLongTasksCountAtOnce(t *testing.T) {
	for _, failed := range []uint64{0, 1} {
		synctest.Test(t, func(t *testing.T) {
			l := stint.Limit(1)
			g := stint.NewGroup(context.Background(), l, stint.KeepGoing())
			for range 40 {
				g.Go(func(context.Context) error {
					time.Sleep(time.Minute)
					if failed == 1 {
						return errBoom
					}
					return nil
				})
			}
			time.Sleep(time.Second)
			for i := range uint64(40) {
				equal(t, "completed", l.Stats().Completed, i)
				equal(t, "failed", l.Stats().Failed, failed*i)
				time.Sleep(time.Minute)
			}
			g.Wait()
			equal(t, "completed", l.Stats().Completed, 40)
		})
	}
}
