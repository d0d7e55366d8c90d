package limit

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
)

// lazy returns a LazyPermit that has the only permit of l.
func lazy(t *testing.T, l *Limiter) *LazyPermit {
	t.Helper()
	if !l.TryAcquire() {
		t.Fatal("no permit is free")
	}
	return NewLazyPermit(context.Background(), l, nil)
}

// back returns the permit of c.
func back(c *LazyPermit) {
	if w := c.Return(); w != nil {
		w.Grant()
	}
}

// A task without calls has no HeldPermit, and its permit is free after Return. A call of
// the task borrows the permit, and its scope is always the same.
func TestLazyPermit(t *testing.T) {
	l := New(1)
	c := lazy(t, l)
	if c.held.Load() != nil {
		t.Error("a HeldPermit without a call")
	}
	back(c)
	want(t, l, 1, 0, 0)

	c = lazy(t, l)
	ctx := context.WithValue(c, lazyKey{}, "value")
	s := ScopeOf(ctx)
	if s != ScopeOf(c) {
		t.Error("two scopes of one task")
	}
	p, ok := l.AcquireFree(s.Call(nil, false))
	if !ok || p == (Permit{}) {
		t.Fatalf("a call got the permit %v, %v; want its task's", p, ok)
	}
	if _, ok := l.AcquireFree(s.Call(nil, false)); ok {
		t.Error("another call got the permit, too")
	}
	l.Release(p)
	back(c)
	want(t, l, 1, 0, 0)
}

// A context that outlives its task has the same scope as before, or one from then on, and
// borrows nothing: its calls wait in the queue like others.
func TestLazyPermitIsReturned(t *testing.T) {
	for _, used := range []bool{false, true} {
		l := New(1)
		c := lazy(t, l)
		var before *Scope
		if used {
			before = ScopeOf(c)
		}
		back(c)
		next := lazy(t, l)
		s := ScopeOf(c)
		if s == nil || s != ScopeOf(c) || used && s != before {
			t.Errorf("used %v: the scopes differ", used)
		}
		if _, ok := l.AcquireFree(s.Call(nil, false)); ok {
			t.Errorf("used %v: a call got a permit that another task has", used)
		}
		granted := false
		w := &Waiter{Grant: func() { granted = true }}
		l.Join(w, s.Call(nil, false))
		back(next)
		if !granted || w.Permit != (Permit{}) {
			t.Errorf("used %v: granted %v, the permit %v", used, granted, w.Permit)
		}
		l.Release(w.Permit)
		want(t, l, 1, 0, 0)
	}
}

// Calls on other goroutines look for the permit while the task ends: at every instant the
// permit has one user, and in the end it is free.
func TestLazyPermitEnds(t *testing.T) {
	l := New(1)
	for range 3000 {
		c := lazy(t, l)
		var users atomic.Int32
		var wg sync.WaitGroup
		var scopes [2]*Scope
		for i := range scopes {
			wg.Go(func() {
				scopes[i] = ScopeOf(c)
				p, ok := l.AcquireFree(scopes[i].Call(nil, false))
				if !ok {
					return
				}
				if n := users.Add(1); n != 1 {
					t.Errorf("%d users of one permit", n)
				}
				users.Add(-1)
				l.Release(p)
			})
		}
		back(c)
		wg.Wait()
		if scopes[0] != scopes[1] {
			t.Fatal("one task has several scopes")
		}
		want(t, l, 1, 0, 0)
	}
}

// lazyKey is the key of a value.
type lazyKey struct{}
