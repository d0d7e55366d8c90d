package work

import (
	"context"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stint-go/stint/internal/limit"
)

// inside returns the context of a task that runs on a permit of l, and gives the
// permit back at the end of the test's function.
func inside(t *testing.T, l *limit.Limiter) context.Context {
	t.Helper()
	if !l.TryAcquire() {
		t.Fatal("no permit")
	}
	return limit.TaskContext(context.Background(), limit.NewHeldPermit(l, limit.Permit{}), nil, true)
}

// A task that waits for its own source at limit 1 lends it the permit, in Wait and
// in Submit. A stranger in the limiter's queue gets none meanwhile.
func TestLoan(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, l := engine(1)
		ctx := inside(t, l)
		home := limit.ScopeOf(ctx)
		s := e.NewSource(SourceConfig{Context: ctx, Room: 2, Runner: new(record), Parent: home})
		stranger := &limit.Waiter{Grant: func() { t.Error("a stranger got the permit of a task that waits") }}
		l.Join(stranger, nil)
		ran := 0
		for range 10 {
			if a := s.Submit(nil, does(func() { time.Sleep(time.Second); ran++ }), home); a != Accepted {
				t.Fatal(a)
			}
		}
		if ran < 7 {
			t.Errorf("%d of 10 ran to make room for 2", ran)
		}
		s.Wait()
		if ran != 10 {
			t.Errorf("%d of 10 ran", ran)
		}
		if _, out, _ := l.Counts(); out != 1 {
			t.Errorf("%d permits are out", out)
		}
		l.Leave(stranger)
		l.Release(limit.Permit{})
		end(t, e)
	})
}

// A task that comes while its source is waited for runs on the permit of the one
// who waits, who was asleep.
func TestLoanForALateTask(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, l := engine(2)
		ctx := inside(t, l)
		s := e.NewSource(SourceConfig{Context: ctx, Room: 10, Runner: new(record), Parent: limit.ScopeOf(ctx)})
		start := time.Now()
		s.Offer(does(func() {
			time.Sleep(time.Second)
			for range 2 {
				s.Offer(does(func() { time.Sleep(time.Second) }), nil)
			}
			time.Sleep(time.Second)
		}), nil)
		synctest.Wait() // it runs on the other permit
		s.Wait()
		if got := time.Since(start); got != 3*time.Second { // 1, then 1 beside 1, then 1
			t.Errorf("%v", got)
		}
		l.Release(limit.Permit{})
		end(t, e)
	})
}

// A panic or a Goexit of a task on a lent permit stays in that task: the waiter
// goes on.
func TestLoanSurvivesGoexit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, l := engine(1)
		ctx := inside(t, l)
		r := new(record)
		s := e.NewSource(SourceConfig{Context: ctx, Room: 10, Runner: r, Parent: limit.ScopeOf(ctx)})
		ran := 0
		for range 3 {
			s.Offer(does(runtime.Goexit), nil)
			s.Offer(does(func() { panic("x") }), nil)
			s.Offer(does(func() { ran++ }), nil)
		}
		whole := false
		done := make(chan struct{})
		go func() { defer close(done); s.Wait(); whole = true }()
		<-done
		if !whole || ran != 3 || len(r.failed) != 6 {
			t.Errorf("Wait returned %v, %d ran, %d failed", whole, ran, len(r.failed))
		}
		l.Release(limit.Permit{})
		end(t, e)
	})
}

// The permit of a waiting task that comes too late to be of use does not stay
// with it.
func TestNoPermitIsHeldIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, l := engine(2)
		ctx := inside(t, l)
		sibling, _ := l.Acquire(false, false, nil, nil, limit.ScopeOf(ctx), nil) // has the task's permit
		l.TryAcquire()                                                           // a stranger has the other
		s := e.NewSource(SourceConfig{Context: ctx, Room: 10, Runner: new(record), Parent: limit.ScopeOf(ctx)})
		hold := make(chan struct{})
		s.Offer(does(func() { <-hold }), nil)
		done := make(chan struct{})
		go func() { s.Wait(); close(done) }()
		synctest.Wait()           // the engine and the lender wait in the limiter's queue
		l.Release(limit.Permit{}) // the stranger's: a worker takes the task
		synctest.Wait()
		l.Release(sibling) // not the lender's
		synctest.Wait()
		w := &limit.Waiter{Grant: func() {}}
		if !l.Join(w, limit.ScopeOf(ctx)) {
			t.Error("a call of the waiting task gets no permit")
		} else {
			l.Release(w.Permit)
		}
		close(hold)
		<-done
		l.Release(limit.Permit{})
		end(t, e)
	})
}

// A submitter whose loan was cut short joins the limiter's queue again: the permit of
// its task may become free later, and nobody else can use it.
func TestLoanWaitsAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, l := engine(2)
		ctx := inside(t, l)
		sibling, _ := l.Acquire(false, false, nil, nil, limit.ScopeOf(ctx), nil) // has the task's permit
		l.TryAcquire()                                                           // a stranger
		s := e.NewSource(SourceConfig{Context: context.Background(), Room: 64, Runner: new(record), Parent: limit.ScopeOf(ctx)})
		hold := make(chan struct{})
		s.Offer(does(func() { <-hold }), nil)
		s.Offer(does(func() { l.Set(1) }), nil)
		for range 62 {
			s.Offer(nothing, nil)
		}
		answers := make(chan Answer, 1)
		go func() { answers <- s.Submit(nil, nothing, limit.ScopeOf(ctx)) }()
		synctest.Wait()
		l.Set(4) // the engine takes the first task, the lender the second
		synctest.Wait()
		close(hold)
		l.Release(limit.Permit{}) // the stranger's
		l.Release(sibling)
		synctest.Wait()
		if len(answers) == 0 {
			t.Error("the submitter waits for ever beside its own free permit")
			l.Set(9)
		}
		<-answers
		s.Wait()
		l.Release(limit.Permit{})
		end(t, e)
	})
}

// A worker that ran tasks on a lent permit runs the next on one of the limiter's own,
// and tells the task so.
func TestTaskAfterALoan(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := limit.New(1)
		e, s := New(Config{Limiter: l, IdleTimeout: time.Second}, SourceConfig{Context: context.Background(), Runner: new(record)})
		var permits []limit.Permit
		f := func(ctx context.Context) error {
			permits = append(permits, limit.ScopeOf(ctx).Permit())
			return nil
		}
		ctx := inside(t, l)
		s.Submit(nil, f, limit.ScopeOf(ctx))
		synctest.Wait()
		l.Release(limit.Permit{})
		s.Offer(f, nil)
		s.Wait()
		if len(permits) != 2 || permits[0] == (limit.Permit{}) || permits[1] != (limit.Permit{}) {
			t.Errorf("ran on %v, want one that is lent and one that is not", permits)
		}
		end(t, e)
	})
}

// A task that waits for room lends its permit until it is let in: after one task, though
// the queue is long.
func TestLoanEndsWithALongQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, l := engine(1)
		ctx := inside(t, l)
		s, _ := source(e, 64)
		ran := 0
		f := does(func() { time.Sleep(time.Second); ran++ })
		for range 64 {
			s.Offer(f, nil)
		}
		if a := s.Submit(nil, f, limit.ScopeOf(ctx)); a != Accepted || ran != 1 {
			t.Errorf("%v after %d tasks, want the one that lets it in", a, ran)
		}
		l.Release(limit.Permit{})
		s.Wait()
		if ran != 65 {
			t.Errorf("%d tasks in all", ran)
		}
		end(t, e)
	})
}
