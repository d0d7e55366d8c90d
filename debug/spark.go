package debug

import (
	"fmt"
	"time"
)

// A series has the numbers of finished tasks at earlier requests, for a line of tasks per
// second over time.
type series struct{ samples []sample }

// maxSamples is how many samples a series keeps. With a page open, which asks each second,
// they are those of two minutes.
const maxSamples = 121

// add adds a sample, unless the last one is too young.
func (s *series) add(now time.Time, completed uint64) {
	n := len(s.samples)
	if n > 0 && now.Sub(s.samples[n-1].time) < minSampleAge {
		return
	}
	if n == maxSamples {
		s.samples = append(s.samples[:0], s.samples[1:]...)
	}
	s.samples = append(s.samples, sample{now, completed})
}

// A spark is tasks per second over time, as a line in a small SVG, and the most in words.
type spark struct{ Wide, High, Line, Text string }

// spark draws s. It returns nil if there are fewer than three samples.
func (s *series) spark() *spark {
	const wide, high = 120.0, 24.0
	n := len(s.samples)
	if n < 3 {
		return nil
	}
	first, span := s.samples[0].time, s.samples[n-1].time.Sub(s.samples[0].time).Seconds()
	rates, most := make([]float64, n-1), 0.0
	for i := range rates {
		a, b := s.samples[i], s.samples[i+1]
		rates[i] = float64(b.completed-a.completed) / b.time.Sub(a.time).Seconds()
		most = max(most, rates[i])
	}
	x := func(i int) float64 { return wide * s.samples[i].time.Sub(first).Seconds() / span }
	y := func(rate float64) float64 { return 1 + (high-2)*(1-rate/max(most, 1e-9)) }
	line := "M0 " + num(y(rates[0]))
	for i, rate := range rates {
		line += "V" + num(y(rate)) + "H" + num(x(i+1))
	}
	text := fmt.Sprintf("at most %s in %s", commas(rate(&most)), ago(first, s.samples[n-1].time))
	return &spark{num(wide), num(high), line, text}
}
