package measure

import (
	"slices"
	"time"
)

// ReportTimes reports quantiles of times, which it sorts, if there are any.
func (m *Meter) ReportTimes(times []time.Duration) {
	if len(times) == 0 {
		return
	}
	slices.Sort(times)
	at := func(part float64) float64 { return float64(times[int(part*float64(len(times)-1))]) }
	m.Report(P50, at(0.5))
	m.Report(P99, at(0.99))
	m.Report(P999, at(0.999))
	m.Report(Spread, at(0.999)-at(0.5))
}
