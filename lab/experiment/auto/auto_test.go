package auto

import (
	"testing"
	"time"

	"github.com/stint-go/stint/lab/engine"
	"github.com/stint-go/stint/lab/measure"
	"github.com/stint-go/stint/lab/trial"
)

func TestRun(t *testing.T) {
	trial.Run(t, run, sizes{divisor: 1000, batch: 2, asks: 2}, trial.Want{Processors: 2, Cases: 11, Verdicts: 18})
}

// The times have the given mean for any distribution.
func TestTimes(t *testing.T) {
	for _, s := range []spread{alike, uniform, exponential} {
		sum := time.Duration(0)
		for _, d := range s.times(1000, time.Millisecond, 1) {
			sum += d
		}
		if off := sum - time.Second; off.Abs() > time.Microsecond {
			t.Errorf("1000 times of 1ms are %v", sum)
		}
	}
}

// A gauge counts concurrent tasks, and a task that did not run is found.
func TestModelsAreWatched(t *testing.T) {
	w := workload{n: 8, tasks: tasks{spread: alike, compute: 10, wait: time.Millisecond, locked: true, slots: 2}}
	lossy := engine.Plain()
	lossy.Run = func(n, limit int, b engine.Body) { engine.Plain().Run(n-1, limit, b) }
	for _, c := range []struct {
		loop engine.Loop
		most float64
		fail bool
	}{{engine.Plain(), 1, false}, {engine.GoroutineEach(), 8, false}, {lossy, 1, true}} {
		m := &measure.Meter{N: w.n}
		if err := w.model(c.loop.Model, c.loop, 0).Run(m); (err != nil) != c.fail {
			t.Errorf("%s: got %v", c.loop.Name, err)
		}
		if got := m.Sample()[measure.AtOnce]; !c.fail && (got > c.most || got < 1) {
			t.Errorf("%s: %v tasks at once, want at most %v", c.loop.Name, got, c.most)
		}
	}
}
