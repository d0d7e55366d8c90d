package limit

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
)

// taken returns the scope of a task that runs on a permit of l, which it takes, and its
// HeldPermit.
func taken(t *testing.T, l *Limiter) (*Scope, *HeldPermit) {
	t.Helper()
	if !l.TryAcquire() {
		t.Fatal("no permit")
	}
	s := NewHeldPermit(l, Permit{})
	return ScopeOf(TaskContext(context.Background(), s, nil, true)), s
}

// below returns the scope of a task that a call with scope k started on another
// goroutine, under another limit.
func below(k *Scope) *Scope {
	return ScopeOf(TaskContext(context.Background(), nil, k, true))
}

// A task of a call, on another goroutine, may use the permit only while the task that
// holds it waits. A stranger never does.
func TestForeignCallNeedsALoan(t *testing.T) {
	l := New(1)
	own, held := taken(t, l)
	granted := false
	w := &Waiter{Grant: func() { granted = true }}
	if l.Join(w, below(own)) {
		t.Fatal("a foreign call runs on a permit that is not lent")
	}
	var strangers []int
	queued(t, l, 1, &strangers)
	if granted {
		t.Fatal("granted before Lend")
	}
	own.Lend()
	if !granted || w.Permit != (Permit{held}) || len(strangers) != 0 {
		t.Fatalf("Lend: granted %v, strangers %v", granted, strangers)
	}
	want(t, l, 1, 1, 1)
	l.Release(w.Permit)
	own.Reclaim()
	if held.taken {
		t.Error("taken after the call has ended")
	}
	late := &Waiter{Grant: func() { t.Error("granted by nobody") }}
	if l.Join(late, below(own)) || !l.Leave(late) {
		t.Error("a foreign call runs on a permit that is lent no more")
	}
	if len(strangers) != 0 {
		t.Error("a stranger got a lent permit")
	}
}

// A waiter in both queues is granted once, whichever permit comes first.
func TestOneGrantFromTwoQueues(t *testing.T) {
	for _, generalFirst := range []bool{false, true} {
		l := New(2)
		own, held := taken(t, l)
		l.TryAcquire()
		inner := &Waiter{}
		l.Join(inner, own)
		n := 0
		w := &Waiter{Grant: func() { n++ }}
		if l.Join(w, own) {
			t.Fatal("two calls on one permit")
		}
		free := []Permit{inner.Permit, {}}
		if generalFirst {
			free[0], free[1] = free[1], free[0]
		}
		l.Release(free[0])
		if n != 1 || (w.Permit == Permit{held}) == generalFirst {
			t.Fatalf("granted %d times, the wrong permit", n)
		}
		l.Release(free[1])
		if n != 1 {
			t.Fatalf("granted %d times", n)
		}
		l.Release(w.Permit)
		l.Release(Permit{}) // of the task
		want(t, l, 2, 0, 0)
	}
}

// A task that waits in one of its calls lends to the tasks of all its calls. Each Reclaim
// waits for the tasks of its own call, and of calls in which nobody waits.
func TestCallsOfOneTask(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := New(1)
		own, held := taken(t, l)
		one, other := own.Call(nil, false), own.Call(nil, false)
		if !one.Belongs(own) || one.Belongs(other) || (*Scope)(nil).Belongs(nil) || (*Scope)(nil).Call(nil, false) != nil {
			t.Error("Belongs tells the task of a call from others wrongly")
		}
		at := new(Waiter)
		one.Lend()
		if !l.Join(at, below(other)) || at.Permit != (Permit{held}) {
			t.Fatal("a task of the other call does not have what the task lends")
		}
		back := false
		go func() { one.Reclaim(); back = true }()
		synctest.Wait()
		if back || !at.Permit.Wanted() {
			t.Fatalf("the task goes on %v beside a task that nobody waits for, which should give back %v", back, at.Permit.Wanted())
		}
		other.Lend() // now somebody does
		synctest.Wait()
		if !back || at.Permit.Wanted() {
			t.Errorf("the call returned %v though the task is waited for elsewhere; it should give back %v", back, at.Permit.Wanted())
		}
		one.Lend()
		one.Reclaim() // at once
		l.Release(at.Permit)
		other.Reclaim()
		want(t, l, 1, 1, 0)
	})
}

// While one goroutine of a call reclaims the permit, another may still lend it: its tasks
// have it afterwards.
func TestReclaimLeavesTheLoanOfAnotherGoroutine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := New(1)
		own, _ := taken(t, l)
		own.Lend()
		own.Lend() // for another goroutine, which goes on waiting
		at := &Waiter{}
		l.Join(at, below(own))
		next := false
		behind := &Waiter{Grant: func() { next = true }}
		l.Join(behind, below(own))
		done := make(chan struct{})
		go func() { own.Reclaim(); close(done) }()
		synctest.Wait()
		l.Release(at.Permit)
		<-done
		if !next {
			t.Error("the permit is lent and free, and the waiter does not have it")
		}
	})
}

// use has a permit for some rounds. No permit has two users: of the two permits one is the task's.
func use(t *testing.T, l *Limiter, from *Scope, rounds int, lent, general *atomic.Int32) {
	for range rounds {
		p, _ := l.Acquire(false, false, nil, nil, from, nil)
		users := general
		if p != (Permit{}) {
			users = lent
		}
		if n := users.Add(1); n > 1 {
			t.Errorf("%d users of one permit", n)
		}
		users.Add(-1)
		l.Release(p)
	}
}

// TestLentAndGeneral mixes calls on one task's permit with strangers.
func TestLentAndGeneral(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := New(2)
		own, held := taken(t, l)
		var lent, general atomic.Int32
		var wg sync.WaitGroup
		for _, from := range []*Scope{nil, own, below(own)} {
			for range 3 {
				wg.Go(func() { use(t, l, from, 500, &lent, &general) })
			}
		}
		wg.Go(func() {
			for range 500 {
				own.Lend()
				own.Reclaim()
			}
		})
		wg.Wait()
		if held.taken {
			t.Error("the permit is taken after all calls")
		}
		l.Release(Permit{})
		want(t, l, 2, 0, 0)
	})
}
