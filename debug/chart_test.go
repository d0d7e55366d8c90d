package debug

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
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

// Even changes are drawn evenly; otherwise each step has its share.
func TestPositions(t *testing.T) {
	for _, c := range []struct {
		after []time.Duration
		now   time.Duration
		want  []float64
	}{
		{[]time.Duration{0}, time.Hour, []float64{0, 100}},
		{[]time.Duration{0}, 0, []float64{0, 100}},
		{[]time.Duration{0, 1, 2, 3}, 4, []float64{0, 25, 50, 75, 100}},
		{[]time.Duration{0, 0, 0, 0}, time.Hour, []float64{0, 12.5, 25, 37.5, 100}},
		{[]time.Duration{0, 30, 60, 100}, 100, []float64{0, 27.5, 55, 87.5, 100}},
		{[]time.Duration{0, 8}, 6, []float64{0, 75, 100}}, // changed after now was taken
	} {
		var got []string
		for _, x := range positions(history(c.after...), begin.Add(c.now), 100) {
			got = append(got, num(x))
		}
		if fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("changes after %v, seen after %v: at %v, want %v", c.after, c.now, got, c.want)
		}
	}
}

func TestChart(t *testing.T) {
	l := limiterStats{LimiterStats: stint.LimiterStats{Limit: 15, History: history(0, time.Second, 2*time.Second)}}
	c := l.Chart(begin.Add(3 * time.Second))
	if want := "M0 88.7V88.7H118.7V53.3H237.3V18H356V71"; c.Line != want { // 10, 20, 30, and 15 by now
		t.Errorf("line %s, want %s", c.Line, want)
	}
	if want := c.Line + "V124H0z"; c.Area != want {
		t.Errorf("area %s, want %s", c.Area, want)
	}
	if len(c.Steps) != 3 || c.Steps[1] != (step{"118.7", "118.7", l.History[1]}) || c.Largest != 30 {
		t.Errorf("steps %+v up to %d", c.Steps, c.Largest)
	}
}

// The line stays in the drawing, for any history.
func TestChartHoldsItsLine(t *testing.T) {
	for _, limits := range [][]int{{1}, {1 << 30, 1}, {1, 2, 3, math.MaxInt}, slices.Repeat([]int{7, 300}, 32)} {
		l := limiterStats{LimiterStats: stint.LimiterStats{Limit: 1}}
		for i, n := range limits {
			l.History = append(l.History, stint.LimitChange{Time: begin.Add(time.Duration(i*i) * time.Millisecond), Limit: n})
		}
		for field := range strings.FieldsFuncSeq(l.Chart(begin.Add(time.Hour)).Line, func(r rune) bool { return strings.ContainsRune("MHV ", r) }) {
			if v, err := strconv.ParseFloat(field, 64); err != nil || v < 0 || v > 356 {
				t.Errorf("%v: %s is no place in the drawing", limits, field)
			}
		}
	}
}

func TestWords(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "1": "1", "999": "999", "1000": "1,000", "1234567": "1,234,567", "18446744073709551615": "18,446,744,073,709,551,615",
		"0.0123": "0.0123", "1e-05": "1e-05", "-": "-", "fixed": "fixed",
	} {
		if got := commas(text); got != want {
			t.Errorf("commas(%q): %q, want %q", text, got, want)
		}
	}
	for v, want := range map[float64]string{0: "0", 1e-5: "1e-05", 0.01234: "0.0123", 1.5: "1.5", 12.345: "12.3", 99.94: "99.9", 99.95: "100", 1234.5: "1234", 1e7: "10000000"} {
		if got := rate(&v); got != want {
			t.Errorf("rate(%v): %q, want %q", v, got, want)
		}
	}
	if got := rate(nil); got != "-" {
		t.Errorf("rate(nil): %q", got)
	}
}
