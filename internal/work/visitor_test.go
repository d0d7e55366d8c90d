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
	return limit.With(context.Background(), limit.NewSlot(l, limit.Permit{}), nil, true)
}

// A task that waits for its own source at limit 1 lends it the permit, in Wait and
// in Submit; a stranger in line gets none meanwhile.
func TestVisitor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, l := engine(1)
		ctx := inside(t, l)
		home := limit.From(ctx)
		s := e.NewSource(SourceConfig{Context: ctx, Room: 2, Job: new(record), Home: home})
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
func TestVisitorTakesLateTask(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, l := engine(2)
		ctx := inside(t, l)
		s := e.NewSource(SourceConfig{Context: ctx, Room: 10, Job: new(record), Home: limit.From(ctx)})
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
func TestVisitorSurvivesItsTasks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, l := engine(1)
		ctx := inside(t, l)
		r := new(record)
		s := e.NewSource(SourceConfig{Context: ctx, Room: 10, Job: r, Home: limit.From(ctx)})
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
func TestVisitorSitsOnNoPermit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, l := engine(2)
		ctx := inside(t, l)
		sibling, _ := l.Acquire(nil, nil, limit.From(ctx)) // has the task's permit
		l.TryAcquire()                                     // a stranger has the other
		s := e.NewSource(SourceConfig{Context: ctx, Room: 10, Job: new(record), Home: limit.From(ctx)})
		hold := make(chan struct{})
		s.Offer(does(func() { <-hold }), nil)
		done := make(chan struct{})
		go func() { s.Wait(); close(done) }()
		synctest.Wait()           // the engine and the visitor stand in line
		l.Release(limit.Permit{}) // the stranger's: a worker takes the task
		synctest.Wait()
		l.Release(sibling) // the visitor has nothing to do with it
		synctest.Wait()
		w := &limit.Waiter{Grant: func() {}}
		if !l.Join(w, limit.From(ctx)) {
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

// A submitter whose loan was cut short stands in line again: its own task's
// permit may come free later, and nobody else can use that.
func TestVisitorStandsInLineAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, l := engine(2)
		ctx := inside(t, l)
		sibling, _ := l.Acquire(nil, nil, limit.From(ctx)) // has the task's permit
		l.TryAcquire()                                     // a stranger
		s := e.NewSource(SourceConfig{Context: context.Background(), Room: 64, Job: new(record), Home: limit.From(ctx)})
		hold := make(chan struct{})
		s.Offer(does(func() { <-hold }), nil)
		s.Offer(does(func() { l.Set(1) }), nil)
		for range 62 {
			s.Offer(nothing, nil)
		}
		answers := make(chan Answer, 1)
		go func() { answers <- s.Submit(nil, nothing, limit.From(ctx)) }()
		synctest.Wait()
		l.Set(4) // the engine takes the first task, the visitor the second
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

// A task that left a call behind has lent its permit to it. The next task waits until it is
// back, also when it could be claimed, and has a context of its own: the call may use
// that of the first for as long as it likes.
func TestNoTaskBesideACallLeftBehind(t *testing.T) {
	for _, room := range []int{10, 100} {
		synctest.Test(t, func(t *testing.T) {
			l := limit.New(1)
			e, s := New(Config{Limiter: l, Expiry: time.Second},
				SourceConfig{Context: context.Background(), Room: room, Job: new(record)})
			hold := make(chan struct{})
			begun := 0
			call := new(limit.Waiter)
			var link *limit.Link
			var slot *limit.Slot
			s.Offer(does(func() { <-hold }), nil)
			synctest.Wait()
			for i := range 8 {
				s.Offer(func(ctx context.Context) error {
					begun++
					if i == 4 {
						link = limit.From(ctx)
						slot, _ = link.On(l)
						if !l.Join(call, link) {
							t.Error("the task's permit is not free for its call")
						}
					}
					if mine, _ := limit.From(ctx).On(l); i > 4 && mine == slot {
						t.Error("a task runs on the slot of the call")
					}
					return nil
				}, nil)
			}
			close(hold)
			synctest.Wait()
			if c := e.Counts(); c.Completed != 6 || c.Running != 0 {
				t.Errorf("room %d: %+v", room, c)
			}
			l.Release(call.Permit)
			s.Wait()
			if begun != 8 {
				t.Errorf("room %d: %d tasks in all", room, begun)
			}
			if after, _ := link.On(l); after != slot {
				t.Error("what the call has for a context is used by others")
			}
			end(t, e)
		})
	}
}

// A worker that ran tasks on a lent permit runs the next on one of the limiter's own,
// and tells the task so.
func TestTaskAfterAVisit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := limit.New(1)
		e, s := New(Config{Limiter: l, Expiry: time.Second}, SourceConfig{Context: context.Background(), Job: new(record)})
		var permits []limit.Permit
		f := func(ctx context.Context) error {
			permits = append(permits, limit.From(ctx).Permit())
			return nil
		}
		ctx := inside(t, l)
		s.Submit(nil, f, limit.From(ctx))
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

// A task that waits for room lends its permit until it is let in, also when more could be
// claimed.
func TestVisitorLeavesALongQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, l := engine(1)
		ctx := inside(t, l)
		s, _ := source(e, 64)
		ran := 0
		f := does(func() { time.Sleep(time.Second); ran++ })
		for range 64 {
			s.Offer(f, nil)
		}
		if a := s.Submit(nil, f, limit.From(ctx)); a != Accepted || ran != 16 {
			t.Errorf("%v after %d tasks, want the quarter that lets it in", a, ran)
		}
		l.Release(limit.Permit{})
		s.Wait()
		if ran != 65 {
			t.Errorf("%d tasks in all", ran)
		}
		end(t, e)
	})
}
