package workload

import (
	"fmt"
	"slices"
)

// An Outcome is what came out of a trial, in the terms of its goals.
type Outcome struct {
	ratio, peak, running, crowded, failed, makespan float64
	late                                            float64 // recovery after the worst step, in what it may take
}

// Outcome returns what a run with a seed came to.
func (tr *Trial) Outcome(m *Meter, seed uint64) Outcome {
	if tr.Total > 0 {
		return Outcome{makespan: m.Now / Fastest(&tr.Workload, seed)}
	}
	best := tr.Best
	if best == 0 { // what a workload that changes can do depends on when
		best = Simulate(&tr.Workload, Fixed(20), seed).Throughput()
	}
	o := Outcome{
		ratio: m.Throughput() / best, peak: float64(m.Peak) / tr.Knee, running: m.Mean() / tr.Knee,
		crowded: m.crowded / m.Now, failed: float64(m.Failed) / float64(m.Ended),
	}
	for _, s := range tr.Steps {
		o.late = max(o.late, (m.recovered(s.At)-s.At)/s.Within)
	}
	return o
}

func (o Outcome) String() string {
	if o.makespan > 0 {
		return fmt.Sprintf("makespan %.3f", o.makespan)
	}
	return fmt.Sprintf("ratio %.3f, peak %.1f, running %.2f, crowded %.3f, failed %.3f, late %.2f",
		o.ratio, o.peak, o.running, o.crowded, o.failed, o.late)
}

// Mean returns the mean of outcomes.
func Mean(outcomes []Outcome) Outcome {
	return combine(outcomes, func(values []float64) float64 {
		sum := 0.0
		for _, x := range values {
			sum += x
		}
		return sum / float64(len(values))
	})
}

// Median returns the median of outcomes, figure by figure.
func Median(outcomes []Outcome) Outcome {
	return combine(outcomes, func(values []float64) float64 {
		slices.Sort(values)
		return values[len(values)/2]
	})
}

// combine returns f of each figure.
func combine(outcomes []Outcome, f func(values []float64) float64) Outcome {
	of := func(figure func(Outcome) float64) float64 {
		var values []float64
		for _, o := range outcomes {
			values = append(values, figure(o))
		}
		return f(values)
	}
	return Outcome{
		ratio:    of(func(o Outcome) float64 { return o.ratio }),
		peak:     of(func(o Outcome) float64 { return o.peak }),
		running:  of(func(o Outcome) float64 { return o.running }),
		crowded:  of(func(o Outcome) float64 { return o.crowded }),
		failed:   of(func(o Outcome) float64 { return o.failed }),
		makespan: of(func(o Outcome) float64 { return o.makespan }),
		late:     of(func(o Outcome) float64 { return o.late }),
	}
}

// Misses returns the goals that an outcome misses.
func (tr *Trial) Misses(o Outcome) []string {
	var misses []string
	if o.ratio < tr.Ratio {
		misses = append(misses, fmt.Sprintf("%s: %.3f of the best throughput, want %.3f", tr.Name, o.ratio, tr.Ratio))
	}
	for _, g := range []struct {
		what      string
		got, most float64
	}{
		{"running at once, in knees", o.peak, tr.Peak},
		{"running on average, in knees", o.running, tr.Running},
		{"share of the time with a crowd", o.crowded, tr.Crowded},
		{"share that failed", o.failed, tr.Failed},
		{"makespan", o.makespan, tr.Makespan},
		{"of the time to recover", o.late, min(1, float64(len(tr.Steps)))},
	} {
		if g.most > 0 && g.got > g.most {
			misses = append(misses, fmt.Sprintf("%s: %s: %.3f, want %.3f at most", tr.Name, g.what, g.got, g.most))
		}
	}
	return misses
}
