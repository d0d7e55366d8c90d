package par

import (
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stint-go/stint/internal/testkit"
)

func second() { time.Sleep(time.Second) }

// Each CPU has a goroutine while there is work for it, and none has two.
func TestTeamUsesEachCPU(t *testing.T) {
	for _, p := range []int{1, 2, 3, 8} {
		synctest.Test(t, func(t *testing.T) {
			tm := newTeam(p)
			var g testkit.Gauge
			var tree func(depth int)
			tree = func(depth int) {
				if depth <= 0 {
					g.Hold(time.Second)
				} else if !tm.both(func() { tree(depth - 1) }, func() { tree(depth - 2) }) {
					t.Error("stopped")
				}
			}
			tm.run(func() { tree(9) })
			testkit.Equal(t, "at once", g.Max(), p)
			testkit.Equal(t, "idle at the end", int(tm.idle.Load()), p-1)
		})
	}
}

// While one side waits for the other, or has ended, its CPU is idle.
func TestTeamUsesTheCPUOfWhoWaits(t *testing.T) {
	for _, callerWaits := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			tm := newTeam(2)
			short, long := func() {}, func() {
				second()
				tm.both(second, second)
			}
			if callerWaits {
				tm.run(func() { tm.both(short, long) })
			} else {
				tm.run(func() { tm.both(long, short) })
			}
			testkit.Equal(t, "time passed", testkit.SinceBubble(), 2*time.Second)
		})
	}
}

// After a function that did not return, on either goroutine, nothing starts.
func TestTeamStops(t *testing.T) {
	nothing := func() {}
	for _, c := range []struct {
		f, g func()
		want string
	}{
		{nothing, runtime.Goexit, "Goexit"},
		{nothing, stop, "panic of stop"},
		{stop, nothing, "panic of stop"},
		{stop, runtime.Goexit, "panic of stop"},
		{runtime.Goexit, stop, "panic of stop"},
	} {
		tm, goesOn := newTeam(2), false
		got := ending(func() { tm.run(func() { goesOn = tm.both(c.f, c.g) }) })
		if after := tm.both(stop, stop); goesOn || after || got != c.want {
			t.Errorf("%s, want %s; goes on: %t, %t", got, c.want, goesOn, after)
		}
	}
}
