package measure

import (
	"maps"
	"testing"
	"time"
)

func TestReportTimes(t *testing.T) {
	var m Meter
	m.ReportTimes(nil)
	if m.Sample() != nil {
		t.Errorf("of no times: %v", m.Sample())
	}
	var times []time.Duration
	for i := range 1001 {
		times = append(times, time.Duration(1000-i))
	}
	m.ReportTimes(times)
	if want := (Sample{P50: 500, P99: 990, P999: 999, Spread: 499}); !maps.Equal(m.Sample(), want) {
		t.Errorf("got %v, want %v", m.Sample(), want)
	}
}
