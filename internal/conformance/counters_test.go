package conformance_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stint-go/stint"
)

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
