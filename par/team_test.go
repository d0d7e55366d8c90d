package par

import (
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func second() { time.Sleep(time.Second) }

// Each CPU has a goroutine while there is work for it, and none has two.
func TestTeamUsesEachCPU(t *testing.T) {
	for _, p := range []int{1, 2, 3, 8} {
		synctest.Test(t, func(t *testing.T) {
			tm := newTeam(p)
			var running, most atomic.Int64
			var tree func(depth int)
			tree = func(depth int) {
				if depth <= 0 {
					n := running.Add(1)
					for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
					}
					second()
					running.Add(-1)
				} else if !tm.both(func() { tree(depth - 1) }, func() { tree(depth - 2) }) {
					t.Error("stopped")
				}
			}
			tm.run(func() { tree(9) })
			if most.Load() != int64(p) || int(tm.idle.Load()) != p-1 {
				t.Errorf("%d CPUs: %d at once, %d idle at the end", p, most.Load(), tm.idle.Load())
			}
		})
	}
}

// While one side waits for the other, or has ended, its CPU is idle.
func TestTeamUsesTheCPUOfWhoWaits(t *testing.T) {
	for _, callerWaits := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			tm := newTeam(2)
			long := func() {
				second()
				tm.both(second, second)
			}
			began := time.Now()
			tm.run(func() {
				if callerWaits {
					tm.both(func() {}, long)
				} else {
					tm.both(long, func() {})
				}
			})
			if took := time.Since(began); took != 2*time.Second {
				t.Errorf("caller waits: %t: %v, want 2s", callerWaits, took)
			}
		})
	}
}

// After a function that did not return, on either goroutine, nothing starts.
func TestTeamStops(t *testing.T) {
	for _, c := range []struct {
		f, g func()
		want string
	}{
		{func() {}, runtime.Goexit, "Goexit"},
		{func() {}, stop, "panic of stop"},
		{stop, func() {}, "panic of stop"},
		{stop, runtime.Goexit, "panic of stop"},
		{runtime.Goexit, stop, "panic of stop"},
	} {
		for _, p := range []int{1, 2} {
			tm := newTeam(p)
			got := ending(func() {
				tm.run(func() {
					if tm.both(c.f, c.g) {
						t.Error("both goes on")
					}
				})
			})
			if both := tm.both(second, second); both || got != c.want && p == 2 {
				t.Errorf("%d CPUs: %s, want %s; goes on: %t", p, got, c.want, both)
			}
		}
	}
}
