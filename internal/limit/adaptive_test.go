package limit

import (
	"sync"
	"testing"

	"github.com/stint-go/stint/internal/auto"
)

// newAdaptive returns a Limiter that starts with n permits of an adaptive limit, and a function
// that reports whether its controller counts tasks.
func newAdaptive(n int) (l *Limiter, searching func() bool) {
	l = new(Limiter)
	l.InitAdaptive(auto.Config{Min: n, Max: 2 * n, Burst: n, Procs: 1})
	return l, func() bool { return l.ActiveController() != nil }
}

// An adaptive Limiter makes one controller, when a task waits, and none after EndSearch;
// whoever comes in between, nobody gets a controller that searches.
func TestControllerIsMadeOnce(t *testing.T) {
	l, searching := newAdaptive(1)
	l.TryAcquire()
	if l.Controller() != nil {
		t.Error("made before it is needed")
	}
	var granted []int
	queued(t, l, 1, &granted)
	c := l.Controller()
	if c == nil || l.NeedController() != c || !searching() {
		t.Error("want one controller, which was told")
	}
	l.EndSearch()
	if l.Controller() != c || searching() {
		t.Error("want the one that was, at rest")
	}
	for range 1000 {
		l, searching := newAdaptive(1)
		l.TryAcquire()
		w := &Waiter{Grant: func() {}}
		var wg sync.WaitGroup
		wg.Go(func() { l.Join(w, nil) })
		wg.Go(l.EndSearch)
		wg.Wait()
		if searching() {
			t.Fatal("it searches after the end")
		}
		l.Leave(w)
		l.Join(w, nil) // of a call that outlives the others
		if searching() {
			t.Fatal("it searches again")
		}
	}
}
