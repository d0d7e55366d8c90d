package limit

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
)

// Calls on other goroutines borrow the permit of an Admission while it ends: at every instant
// the permit has one user, and in the end it is free.
func TestAdmissionEnds(t *testing.T) {
	l := New(1)
	var users atomic.Int32
	borrow := func(from *Scope) {
		p, ok := l.AcquireFree(from)
		if !ok {
			return
		}
		if n := users.Add(1); n != 1 {
			t.Errorf("%d users of one permit", n)
		}
		users.Add(-1)
		l.Release(p)
	}
	for range 1000 {
		a, ok := l.AdmitFree(context.Background())
		if !ok {
			t.Fatal("no permit is free")
		}
		var wg sync.WaitGroup
		for range 2 {
			wg.Go(func() { borrow(ScopeOf(a.Context()).Call(nil, false)) })
		}
		a.Release(false)
		wg.Wait()
		want(t, l, 1, 0, 0)
	}
}
