package workload

import "math"

// bin is the width of a bin, in which the tasks that end are counted.
const bin = 10

// crowd is a number of tasks: more than that are a crowd.
const crowd = 60

// A Meter counts the tasks of a run.
type Meter struct {
	Running, Peak, Ended, Failed int
	Now                          float64

	w       *Workload
	counted int     // ended without failing before w.From
	since   float64 // the time of that; -1: not yet
	busy    float64 // integral of Running
	crowded float64 // time with a crowd
	ends    []int   // tasks that ended in each bin
}

func newMeter(w *Workload) Meter {
	return Meter{w: w, since: -1, ends: make([]int, int(w.Until/bin)+1)}
}

// pass lets time pass until at.
func (m *Meter) pass(at float64) {
	if m.since < 0 && at >= m.w.From {
		m.since, m.counted = max(m.w.From, m.Now), m.Ended-m.Failed
	}
	m.busy += float64(m.Running) * (at - m.Now)
	if m.Running > crowd {
		m.crowded += at - m.Now
	}
	m.Now = at
}

func (m *Meter) enter() {
	m.Running++
	m.Peak = max(m.Peak, m.Running)
}

func (m *Meter) ended(failed bool) {
	m.Ended++
	if failed {
		m.Failed++
	}
	if m.w.Until > 0 {
		m.ends[int(m.Now/bin)]++
	}
}

// Throughput is how many tasks ended a millisecond, without those that failed.
func (m *Meter) Throughput() float64 {
	return float64(m.Ended-m.Failed-m.counted) / (m.Now - m.since)
}

// Mean is how many tasks ran on average.
func (m *Meter) Mean() float64 { return m.busy / m.Now }

// recovered returns when the throughput was nine tenths of the best again, over three
// bins, after a step.
func (m *Meter) recovered(after float64) float64 {
	for i := int(after/bin) + 3; i <= len(m.ends); i++ {
		if float64(m.ends[i-3]+m.ends[i-2]+m.ends[i-1]) >= 0.9*m.w.Best*3*bin {
			return float64(i) * bin
		}
	}
	return math.Inf(1)
}
