package auto

import (
	"sync"
	"testing"
)

// A Lazy makes one controller, and none after Close; whoever comes in between, nobody gets a
// controller that is not closed.
func TestLazy(t *testing.T) {
	var z Lazy
	z.Init(Config{Min: 1, Max: 4, Burst: 2, Procs: 1}, new(fakeLimiter))
	if z.Made() != nil {
		t.Error("made before it is needed")
	}
	c := z.Controller()
	if c == nil || z.Controller() != c || z.Made() != c {
		t.Error("want one controller")
	}
	z.NotifyWaiting()
	if !c.Active() {
		t.Error("it was not told")
	}
	z.Close()
	if z.Controller() != c || c.Active() {
		t.Error("want the one that is closed")
	}
	for range 1000 {
		z := new(Lazy)
		z.Init(Config{Min: 1, Max: 4, Burst: 2, Procs: 1}, new(fakeLimiter))
		var wg sync.WaitGroup
		wg.Go(z.NotifyWaiting)
		wg.Go(z.Close)
		wg.Wait()
		if c := z.Made(); c != nil && !c.ended.Load() {
			t.Fatal("a controller is not closed")
		}
		z.NotifyWaiting() // of a call that outlives the others
		if c := z.Controller(); c != nil && c.Active() {
			t.Fatal("it searches after Close")
		}
	}
}
