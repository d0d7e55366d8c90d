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

func TestScale(t *testing.T) {
	for largest, want := range map[float64][2]float64{
		0: {1, 1}, 1: {1, 1}, 4: {4, 1}, 5: {6, 2}, 8: {8, 2}, 9: {10, 5}, 20: {20, 5}, 21: {30, 10},
		100: {100, 50}, 256: {300, 100}, 1234: {1500, 500}, 1 << 62: {6e18, 2e18},
	} {
		if highest, unit := scale(largest); highest != want[0] || unit != want[1] {
			t.Errorf("scale(%v): to %v by %v, want to %v by %v", largest, highest, unit, want[0], want[1])
		}
	}
}

// Even changes are drawn evenly; otherwise each step has its share.
func TestPositions(t *testing.T) {
	const left, right = 20.0, 120.0
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
		var got []float64
		for _, x := range positions(history(c.after...), begin.Add(c.now), left, right) {
			got = append(got, x-left)
		}
		if fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("changes after %v, seen after %v: at %v, want %v", c.after, c.now, got, c.want)
		}
	}
}

func TestMoments(t *testing.T) {
	for _, c := range []struct {
		after []time.Duration
		now   time.Duration
		want  []string
	}{
		{[]time.Duration{0}, time.Minute, []string{"04:05:06", "now"}},
		{[]time.Duration{0, time.Minute, 2 * time.Minute}, 3 * time.Minute, []string{"04:05:06", "now", "04:06:06"}},
		{[]time.Duration{0, 1, 2, 3}, 4, []string{"04:05:06", "now"}},                     // all in one second
		{[]time.Duration{0, time.Minute}, 20 * time.Hour, []string{"Feb 3 04:05", "now"}}, // no room
		{[]time.Duration{0, 20 * time.Hour}, 40 * time.Hour, []string{"Feb 3 04:05", "now", "Feb 4 00:05"}},
	} {
		h, now := history(c.after...), begin.Add(c.now)
		var got []string
		for _, m := range moments(h, now, positions(h, now, 20, wide-4)) {
			got = append(got, m.Text)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("changes after %v, seen after %v: %q, want %q", c.after, c.now, got, c.want)
		}
	}
}

func TestChart(t *testing.T) {
	l := limiterStats{LimiterStats: stint.LimiterStats{Limit: 25, History: history(0, time.Second, 2*time.Second)}}
	c := l.Chart(begin.Add(3 * time.Second))
	if want := "M20 92.7H132V57.3H244V22H356V39.7"; c.Line != want { // 10, 20, 30, and 25 by now
		t.Errorf("line %s, want %s", c.Line, want)
	}
	if want := c.Line + "V128H20z"; c.Area != want {
		t.Errorf("area %s, want %s", c.Area, want)
	}
	if len(c.Steps) != 3 || c.Steps[1].X != "132" || c.Steps[1].Wide != "112" || c.Steps[1].Change != l.History[1] {
		t.Errorf("steps %+v", c.Steps)
	}
	if len(c.Levels) != 4 || c.Levels[3] != (level{"22", "26", "30"}) {
		t.Errorf("levels %+v", c.Levels)
	}
}

// A change has the throughput that was measured before it. The first step of this history has
// 50 tasks a second, the second and the third none: that of now may be of another limit.
func TestChartShowsThroughput(t *testing.T) {
	h := history(0, time.Second, 2*time.Second)
	h[1].Throughput = 50
	l := limiterStats{LimiterStats: stint.LimiterStats{Limit: 30, History: h, Throughput: 100}}
	c := l.Chart(begin.Add(3 * time.Second))
	at := positions(h, begin.Add(3*time.Second), 20, 340)
	if want := "M20 39.7H" + num(at[1]); c.Pace != want {
		t.Errorf("line %s, want %s", c.Pace, want)
	}
	if n := len(c.Paces); n == 0 || c.Paces[n-1] != (level{"22", "26", "60"}) {
		t.Errorf("marks %+v", c.Paces)
	}
	h[1].Throughput = 0
	if c := l.Chart(begin.Add(3 * time.Second)); c.Pace != "" || c.Paces != nil {
		t.Errorf("line %q, marks %v of no throughput", c.Pace, c.Paces)
	}
}

// What the requests for the page have sampled is drawn where the limiter has measured nothing,
// and in a step that lasts for two samples or more.
func TestChartShowsSamples(t *testing.T) {
	l := limiterStats{LimiterStats: stint.LimiterStats{Limit: 10, History: history(0)}}
	for i, n := range []uint64{0, 10, 30} {
		l.samples = append(l.samples, sample{time: begin.Add(time.Duration(i) * time.Second), completed: n})
	}
	paces, most := l.paces(begin.Add(4 * time.Second))
	if want := []pace{{0, 0, 0.25, 10}, {0, 0.25, 0.5, 20}}; !slices.Equal(paces, want) || most != 20 {
		t.Errorf("%v up to %v, want %v", paces, most, want)
	}
	l.History = history(0, time.Second/2, 4*time.Second)
	l.History[1].Throughput, l.History[2].Throughput = 1000, 70
	l.samples = append(l.samples, sample{begin.Add(3 * time.Second), 60}, sample{begin.Add(4 * time.Second), 100})
	paces, _ = l.paces(begin.Add(4 * time.Second))
	var rates []float64
	for _, p := range paces {
		rates = append(rates, p.rate)
	}
	if want := []float64{1000, 10, 20, 30, 40}; !slices.Equal(rates, want) {
		t.Errorf("throughputs %v, want %v", rates, want)
	}
}

// The line stays in the drawing, for any history.
func TestChartHoldsItsLine(t *testing.T) {
	for _, limits := range [][]int{{1}, {1 << 30, 1}, {1, 2, 3, math.MaxInt}, slices.Repeat([]int{7, 300}, 32)} {
		l := limiterStats{LimiterStats: stint.LimiterStats{Limit: 1}}
		for i, n := range limits {
			l.History = append(l.History, stint.LimitChange{Time: begin.Add(time.Duration(i*i) * time.Millisecond), Limit: n})
		}
		c := l.Chart(begin.Add(time.Hour))
		last := 0.0
		for _, field := range strings.FieldsFunc(c.Line, func(r rune) bool { return strings.ContainsRune("MHV ", r) }) {
			v, err := strconv.ParseFloat(field, 64)
			if err != nil || v < 0 || v > wide {
				t.Errorf("%v: %s is no place in the drawing", limits, field)
			}
			last = v
		}
		if last > floor {
			t.Errorf("%v: the line ends at %v, below the floor", limits, last)
		}
	}
}

func TestWords(t *testing.T) {
	for d, want := range map[time.Duration]string{
		-time.Second: "0 s", 0: "0 s", time.Second - 1: "0 s", 59 * time.Second: "59 s", time.Minute: "1 min 0 s",
		time.Hour - 1: "59 min 59 s", 90 * time.Minute: "1 h 30 min", 49 * time.Hour: "2 d 1 h",
	} {
		if got := ago(begin, begin.Add(d)); got != want {
			t.Errorf("ago(%v): %q, want %q", d, got, want)
		}
	}
	for d, want := range map[time.Duration]string{0: "04:05:06.000", 12 * time.Hour: "04:05:06.000", 13 * time.Hour: "Feb 3 04:05:06.000"} {
		if got := clock(begin, begin.Add(d)); got != want {
			t.Errorf("clock after %v: %q, want %q", d, got, want)
		}
	}
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
