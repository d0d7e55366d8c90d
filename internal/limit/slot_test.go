package limit

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
)

// taken returns the link of a task that runs on a permit of l, which it takes, and
// the slot that stands for it.
func taken(t *testing.T, l *Limiter) (*Link, *Slot) {
	t.Helper()
	if !l.TryAcquire() {
		t.Fatal("no permit")
	}
	s := NewSlot(l, Permit{})
	return From(With(context.Background(), s, nil, true)), s
}

// below returns the link of a task that a call with the link k started on another
// goroutine, under another limit.
func below(k *Link) *Link {
	return From(With(context.Background(), nil, k, true))
}

func TestFrom(t *testing.T) {
	if From(context.Background()) != nil {
		t.Error("a link in the empty context")
	}
	ctx := With(context.Background(), nil, nil, false)
	type key struct{}
	if k := From(ctx); k == nil || From(context.WithValue(ctx, key{}, 1)) != k {
		t.Error("the link does not pass to contexts made from its own")
	}
	if ctx.Value(key{}) != nil {
		t.Error("a link answers for another key")
	}
}

func TestOnFindsTheNearestSlot(t *testing.T) {
	l, other := New(1), New(1)
	outer, inner, foreign := NewSlot(l, Permit{}), NewSlot(l, Permit{}), NewSlot(other, Permit{})
	a := From(With(context.Background(), outer, nil, true))
	same := From(With(context.Background(), foreign, a, false)) // on a's goroutine
	apart := From(With(context.Background(), foreign, a, true)) // started from a
	nearer := From(With(context.Background(), inner, apart, true))
	deep := From(With(context.Background(), nil, apart, true))
	for name, c := range map[string]struct {
		from         *Link
		slot, branch any
	}{
		"none":            {nil, (*Slot)(nil), (*Link)(nil)},
		"own":             {a, outer, (*Link)(nil)},
		"same goroutine":  {same, outer, (*Link)(nil)},
		"other goroutine": {apart, outer, a},
		"nearest":         {nearer, inner, (*Link)(nil)},
		"two apart":       {deep, outer, a},
	} {
		if slot, branch := c.from.On(l); slot != c.slot || branch != c.branch {
			t.Errorf("%s: On: %p, %p; want %p, %p", name, slot, branch, c.slot, c.branch)
		}
	}
	if slot, _ := a.On(other); slot != nil {
		t.Error("a slot of another limiter")
	}
}

// A call made with the task's own context has the task's permit at once, however
// many strangers stand in line.
func TestOwnCallTakesTheSlot(t *testing.T) {
	l := New(1)
	own, slot := taken(t, l)
	var granted []int
	queued(t, l, 1, &granted)
	w := &Waiter{}
	if !l.Join(w, own) || w.Permit != (Permit{slot}) || !slot.Busy() {
		t.Fatal("the own call does not run on the task's permit")
	}
	second := false
	next := &Waiter{Grant: func() { second = true }}
	if l.Join(next, own) {
		t.Fatal("two calls on one permit")
	}
	want(t, l, 1, 1, 2)
	l.Release(w.Permit)
	if !second || next.Permit != (Permit{slot}) || len(granted) != 0 {
		t.Fatalf("the next own call has the permit: %v; strangers have it: %v", second, granted)
	}
	l.Release(next.Permit)
	if slot.Busy() || len(granted) != 0 {
		t.Error("the permit went to a stranger, or is still in use")
	}
	want(t, l, 1, 1, 1)
}

// A task that another goroutine runs may use the permit only while the task that
// has it waits; the stranger behind it never.
func TestForeignCallNeedsALentLink(t *testing.T) {
	l := New(1)
	own, slot := taken(t, l)
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
	if !granted || w.Permit != (Permit{slot}) || len(strangers) != 0 {
		t.Fatalf("Lend: granted %v, strangers %v", granted, strangers)
	}
	want(t, l, 1, 1, 1)
	l.Release(w.Permit)
	own.Reclaim()
	if slot.Busy() {
		t.Error("busy after the call has ended")
	}
	late := &Waiter{Grant: func() { t.Error("granted by nobody") }}
	if l.Join(late, below(own)) || !l.Leave(late) {
		t.Error("a foreign call runs on a permit that is lent no more")
	}
	if len(strangers) != 0 {
		t.Error("a stranger got a lent permit")
	}
}

// A waiter in both lines is granted once, whichever permit comes first.
func TestOneGrantFromTwoLines(t *testing.T) {
	for _, generalFirst := range []bool{false, true} {
		l := New(2)
		own, slot := taken(t, l)
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
		if n != 1 || (w.Permit == Permit{slot}) == generalFirst {
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

// Lend serves the slots on the same goroutine, and none beyond.
func TestLendStopsAtTheGoroutine(t *testing.T) {
	l := New(2)
	first, _ := taken(t, l)
	slot := NewSlot(l, Permit{})
	l.TryAcquire()
	second := From(With(context.Background(), slot, first, true))
	granted := ""
	l.Join(&Waiter{Grant: func() { granted += "1" }}, below(first))
	l.Join(&Waiter{Grant: func() { granted += "2" }}, below(second))
	second.Lend()
	if granted != "2" {
		t.Errorf("Lend served %q", granted)
	}
	first.Lend()
	if granted != "21" {
		t.Errorf("Lend served %q", granted)
	}
	(*Link)(nil).Lend()
	(*Link)(nil).Reclaim()
}

// Reclaim waits for the one at work on the permit, lets no other begin on it, and
// says so to the one.
func TestReclaimWaitsForThePermit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := New(1)
		own, slot := taken(t, l)
		own.Lend()
		at := &Waiter{}
		if !l.Join(at, below(own)) || at.Permit.Wanted() {
			t.Fatal("the lent permit is not to be had, or wanted already")
		}
		next := false
		behind := &Waiter{Grant: func() { next = true }}
		l.Join(behind, below(own))
		back := false
		done := make(chan struct{})
		go func() { own.Reclaim(); back = true; close(done) }()
		synctest.Wait()
		if back || !at.Permit.Wanted() {
			t.Fatalf("returned %v, wanted %v, while another is at work", back, at.Permit.Wanted())
		}
		l.Release(at.Permit)
		<-done
		if next || slot.Busy() {
			t.Error("another began on the permit that its task wants back")
		}
		if !l.Leave(behind) {
			t.Error("the one behind is not in line")
		}
		want(t, l, 1, 1, 0)
	})
}

// A task that waits in one of its calls lends to the tasks of all. Of calls that it waits
// in at once each waits for its own tasks to give back, and for those of calls in which
// nobody waits.
func TestCallsOfOneTask(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := New(1)
		own, slot := taken(t, l)
		one, other := own.Call(), own.Call()
		if !one.Belongs(own) || one.Belongs(other) || (*Link)(nil).Belongs(nil) || (*Link)(nil).Call() != nil {
			t.Error("Belongs tells the task of a call from others wrongly")
		}
		at := new(Waiter)
		one.Lend()
		if !l.Join(at, below(other)) || at.Permit != (Permit{slot}) {
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

// While one goroutine of a call reclaims the permit, another may still lend it: those
// that it waits for must have it afterwards.
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
			t.Error("the permit is lent and free, and the one in line does not have it")
		}
	})
}

// A call that the task left behind keeps the permit, and gives it back itself.
func TestRetire(t *testing.T) {
	l := New(1)
	own, slot := taken(t, l)
	w := &Waiter{}
	l.Join(w, own)
	var granted []int
	queued(t, l, 1, &granted)
	if !slot.Busy() || slot.Retire() {
		t.Fatal("the worker keeps a permit that a call left behind has")
	}
	late := &Waiter{Grant: func() { granted = append(granted, -1) }}
	if l.Join(late, own) {
		t.Fatal("a permit of a retired slot")
	}
	l.Release(w.Permit)
	if !slices.Equal(granted, []int{0}) {
		t.Fatalf("the permit of a retired slot went to %v", granted)
	}
	want(t, l, 1, 1, 1)
	l.Release(Permit{})
	if !slices.Equal(granted, []int{0, -1}) || late.Permit != (Permit{}) {
		t.Fatal("a call that waits for a retired slot has its turn in the general line too")
	}

	l = New(1)
	own, slot = taken(t, l)
	w = &Waiter{}
	l.Join(w, own)
	l.Release(w.Permit) // before the worker could retire the slot
	if !slot.Retire() {
		t.Fatal("the permit of a free slot is not the worker's")
	}
	want(t, l, 1, 1, 0)
}

// TestLentAndGeneral mixes calls on one task's permit with strangers. At every
// instant a permit has one user.
func TestLentAndGeneral(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := New(2)
		own, slot := taken(t, l)
		var onSlot, general atomic.Int32
		var wg sync.WaitGroup
		run := func(from *Link, rounds int) {
			wg.Go(func() {
				for range rounds {
					p, ok := l.Acquire(nil, nil, from)
					if !ok {
						t.Error("Acquire gave up")
					}
					gauge := &general // of the two permits one is the task's
					if p != (Permit{}) {
						gauge = &onSlot
					}
					if n := gauge.Add(1); n > 1 {
						t.Errorf("%d users of one permit", n)
					}
					gauge.Add(-1)
					l.Release(p)
				}
			})
		}
		for range 3 {
			run(nil, 500)
			run(own, 500)
			run(below(own), 500)
		}
		wg.Go(func() {
			for range 500 {
				own.Lend()
				own.Reclaim()
			}
		})
		wg.Wait()
		if slot.Busy() {
			t.Error("the slot is busy after all calls")
		}
		l.Release(Permit{})
		want(t, l, 2, 0, 0)
	})
}
