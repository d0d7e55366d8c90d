package auto

import (
	"testing"
	"time"

	"github.com/stint-go/stint/lab/experiment"
	"github.com/stint-go/stint/lab/measure"
	"github.com/stint-go/stint/lab/trial"
)

func TestRun(t *testing.T) {
	trial.Run(t, run, sizes{divisor: 1000, batchSize: 2, ops: 50}, trial.Want{Processors: 2, Cases: 22, Verdicts: 29})
}

// The times have the given mean for any distribution.
func TestTimes(t *testing.T) {
	for _, l := range []distribution{alike, uniform, exponential} {
		sum := time.Duration(0)
		for _, d := range times(l, 1000, 1e6) {
			sum += d
		}
		if off := sum - time.Second; off.Abs() > time.Microsecond {
			t.Errorf("1000 times of 1ms are %v", sum)
		}
	}
}

// A gauge counts concurrent tasks, and the checks detect tasks that did not
// run.
func TestModelsAreWatched(t *testing.T) {
	p := workload{n: 8, tasks: sleeping(alike, 1e6)}
	for most, run := range map[float64]loop{1: func(n int, f func(int)) {
		for i := range n {
			f(i)
		}
	}, 8: goroutines} {
		m := &measure.Meter{N: p.n}
		if err := p.model(experiment.Model{}.Model, run).Run(m); err != nil {
			t.Error(err)
		}
		if got := m.Sample()[measure.AtOnce]; got > most || got < 1 {
			t.Errorf("%v tasks at once, want at most %v", got, most)
		}
	}
	for _, w := range []tasks{sleeping(alike, 1), spinning(alike, 10), slots(2, 1), mixed(10, 1), locked(10)} {
		p := workload{n: 8, tasks: w}
		if err := p.model(experiment.Model{}.Model, func(n int, f func(int)) { goroutines(n-1, f) }).Run(new(measure.Meter)); err == nil {
			t.Error("a task that did not run was not found")
		}
	}
}
