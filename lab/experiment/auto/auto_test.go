package auto

import (
	"io"
	"testing"
	"time"

	"github.com/stint-go/stint/lab/experiment"
	"github.com/stint-go/stint/lab/measure"
)

// The experiment runs from end to end, with every claim about rows that it has.
func TestRun(t *testing.T) {
	s := &experiment.Session{Quick: true, Count: 1, Log: io.Discard}
	r, err := run(t.Context(), s, sizes{divisor: 1000, few: 2, ops: 50})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Cases) != 22 {
		t.Errorf("%d cases, want 22", len(r.Cases))
	}
	for _, v := range r.Verdicts {
		if v.Figures.N != 1 {
			t.Errorf("%+v: %d samples, want 1", v.Claim, v.Figures.N)
		}
	}
	if want := 22 + 7; len(r.Verdicts) != want {
		t.Errorf("%d verdicts, want %d", len(r.Verdicts), want)
	}
}

// The sum of the times is that of the mean, whatever the law.
func TestTimes(t *testing.T) {
	for _, l := range []law{alike, uniform, exponential} {
		sum := time.Duration(0)
		for _, d := range times(l, 1000, 1e6) {
			sum += d
		}
		if off := sum - time.Second; off.Abs() > time.Microsecond {
			t.Errorf("1000 times of 1ms are %v", sum)
		}
	}
}

// A gauge tells how many tasks there were at once, and a check finds those that
// did not run.
func TestModelsAreWatched(t *testing.T) {
	p := plant{n: 8, work: sleeping(alike, 1e6)}
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
	for _, w := range []work{sleeping(alike, 1), spinning(alike, 10), slots(2, 1), mixed(10, 1), locked(10)} {
		p := plant{n: 8, work: w}
		if err := p.model(experiment.Model{}.Model, func(n int, f func(int)) { goroutines(n-1, f) }).Run(new(measure.Meter)); err == nil {
			t.Error("a task that did not run was not found")
		}
	}
}
