package debug

import (
	"math"
	"testing"
	"time"

	"github.com/stint-go/stint"
)

var begin = time.Date(2001, 2, 3, 4, 5, 6, 0, time.UTC)

// history has a change at each of the times after the first.
func history(after ...time.Duration) []stint.LimitChange {
	var out []stint.LimitChange
	for i, d := range after {
		out = append(out, stint.LimitChange{Time: begin.Add(d), Limit: 10 * (i + 1), Reason: "because"})
	}
	return out
}

// Half of the width is time; the steps share the other half.
func TestChart(t *testing.T) {
	l := limiterStats{stint.LimiterStats{Limit: 15, History: history(0, time.Second, 8*time.Second)}}
	c := l.Chart(begin.Add(10 * time.Second))
	if want := "M0 88.7V88.7H77.1V53.3H261.1V18H356V71"; c.Line != want || c.Area != want+"V124H0z" { // 10, 20, 30, and 15 by now
		t.Errorf("line %s and area %s, want %s", c.Line, c.Area, want)
	}
	if len(c.Steps) != 3 || c.Steps[1] != (step{"77.1", "183.9", l.History[1]}) || c.Largest != 30 {
		t.Errorf("steps %+v up to %d", c.Steps, c.Largest)
	}
	now := limiterStats{stint.LimiterStats{Limit: math.MaxInt, History: history(0)}}.Chart(begin) // the limit has changed since
	if now.Line != "M0 124V124H356V18" {
		t.Errorf("line %s", now.Line)
	}
	paused := limiterStats{stint.LimiterStats{History: []stint.LimitChange{{Time: begin}}}}.Chart(begin)
	if paused.Line != "M0 124V124H356V124" {
		t.Errorf("line of a pause %s", paused.Line)
	}
}

func TestRate(t *testing.T) {
	for v, want := range map[float64]string{0: "0", 0.01234: "0.0123", 12.345: "12.3", 99.94: "99.9", 99.95: "100", 1234.5: "1234", 1e7: "10000000"} {
		if got := rate(&v); got != want {
			t.Errorf("rate(%v): %q, want %q", v, got, want)
		}
	}
}
