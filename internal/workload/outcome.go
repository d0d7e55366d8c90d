package workload

import (
	"fmt"
	"slices"
)

// The figures of an outcome.
const (
	ratio    = iota // of the best throughput
	peak            // running at once, in knees
	running         // on average, in knees
	crowded         // share of the time with a crowd
	failed          // share of the tasks
	makespan        // of a total of tasks, in that with the best fixed limit
	late            // recovery after the worst step, in what it may take
	figures
)

var figureNames = [figures]string{"ratio", "peak", "running", "crowded", "failed", "makespan", "late"}

// An Outcome is what came out of a trial, in the terms of its goals.
type Outcome [figures]float64

func (o Outcome) String() string { return fmt.Sprintf("%.3f", [figures]float64(o)) }

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
		o[late] = max(o[late], (m.recovered(s.At)-s.At)/s.Within)
	}
	return o
}

// Mean returns the mean of outcomes, figure by figure.
func Mean(outcomes []Outcome) (mean Outcome) {
	for i := range mean {
		for _, o := range outcomes {
			mean[i] += o[i]
		}
		mean[i] /= float64(len(outcomes))
	}
	return mean
}

// Median returns the median of outcomes, figure by figure.
func Median(outcomes []Outcome) (median Outcome) {
	for i := range median {
		var values []float64
		for _, o := range outcomes {
			values = append(values, o[i])
		}
		slices.Sort(values)
		median[i] = values[len(values)/2]
	}
	return median
}

// Misses returns the goals that an outcome misses.
func (tr *Trial) Misses(o Outcome) []string {
	var misses []string
	if o[ratio] < tr.Ratio {
		misses = append(misses, fmt.Sprintf("%s: ratio %.3f, want %.3f", tr.Name, o[ratio], tr.Ratio))
	}
	for i, most := range (Outcome{peak: tr.Peak, running: tr.Running, crowded: tr.Crowded, failed: tr.Failed, makespan: tr.Makespan, late: min(1, float64(len(tr.Steps)))}) {
		if most > 0 && o[i] > most {
			misses = append(misses, fmt.Sprintf("%s: %s %.3f, want %.3f at most", tr.Name, figureNames[i], o[i], most))
		}
	}
	return misses
}
