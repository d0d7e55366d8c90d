package debug

import "time"

// A pace is the throughput in a part of a step: from and to are shares of it.
type pace struct {
	step     int
	from, to float64
	rate     float64 // tasks per second
}

// paces returns the throughput over time, and the most. A step that has at least two samples
// of the requests for the page shows these: what the limiter has measured is that of a moment,
// at the end of the step. A shorter one shows the latter, which is finer. A step with neither
// has no pace, nor has the last one without samples: the throughput measured last may be that
// of another limit.
func (l limiterStats) paces(now time.Time) (out []pace, most float64) {
	for i := range l.History {
		end, measured := now, 0.0
		if i+1 < len(l.History) {
			end, measured = l.History[i+1].Time, l.History[i+1].Throughput
		}
		found := sampled(i, l.History[i].Time, end, l.samples)
		if measured > 0 && len(found) < 3 {
			found = []pace{{i, 0, 1, measured}}
		}
		for _, p := range found {
			most = max(most, p.rate)
		}
		out = append(out, found...)
	}
	return out, most
}

// sampled returns the throughput between samples, as far as they are in a step.
func sampled(step int, begin, end time.Time, samples []sample) (out []pace) {
	span := end.Sub(begin).Seconds()
	if span <= 0 {
		return nil
	}
	share := func(t time.Time) float64 { return min(max(0, t.Sub(begin).Seconds()/span), 1) }
	for i := 1; i < len(samples); i++ {
		a, b := samples[i-1], samples[i]
		if from, to := share(a.time), share(b.time); from < to {
			rate := float64(b.completed-a.completed) / b.time.Sub(a.time).Seconds()
			out = append(out, pace{step, from, to, rate})
		}
	}
	return out
}

// drawn returns the path of paces, with gaps where none is known. Change i is at at[i].
func drawn(paces []pace, at []float64, fastest float64) (path string) {
	last := -1.0
	for _, p := range paces {
		x := func(share float64) float64 { return at[p.step] + share*(at[p.step+1]-at[p.step]) }
		y := num(height(p.rate, fastest))
		if from := x(p.from); num(from) == num(last) {
			path += "V" + y
		} else {
			path += "M" + num(from) + " " + y
		}
		last = x(p.to)
		path += "H" + num(last)
	}
	return path
}
