package advise

import (
	"strings"
	"testing"

	"github.com/stint-go/stint/lab/stats"
)

// sped returns a row with a speedup and its interval.
func sped(name string, lo, median, hi float64) Row {
	e := stats.Estimate{N: 6, Median: median, Interval: &stats.Interval{Lo: lo, Hi: hi}}
	if hi == 0 {
		e.Interval = nil
	}
	return Row{Name: name, Speedup: e}
}

func TestPlot(t *testing.T) {
	got := plot([]Row{sped("loop", 1, 1, 1), sped("slow", 0.001, 0.002, 0.003), sped("twice", 1.8, 2, 2.3), sped("single", 0, 3, 0), sped("four", 3.5, 3.9, 4)})
	want := "" +
		"  loop  " + strings.Repeat("█", 18) + "▏\n" +
		"  slow  ▏" + strings.Repeat(" ", 17) + "┊\n" +
		" twice  " + strings.Repeat("█", 32) + "├───┼────┤\n" +
		"single  " + strings.Repeat("█", 53) + "▏\n" +
		"  four  " + strings.Repeat("█", 62) + "├──────┼─┤\n" +
		"        0" + strings.Repeat(" ", 17) + "1" + strings.Repeat(" ", 49) + "4.00"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// If the loop is near an end of the axis, the first label stays.
func TestAxis(t *testing.T) {
	for highest, want := range map[float64]string{
		1:    "0        1",
		1.2:  "0       1",
		1000: "0     1000",
	} {
		if got := (scale{highest, 10}).axis(); got != want {
			t.Errorf("%v: got %q, want %q", highest, got, want)
		}
	}
}

func TestWrap(t *testing.T) {
	long := strings.Repeat("word ", 20)
	want := strings.TrimSpace(strings.Repeat("word ", 16)) + "\n  word word word word"
	if got := wrap(long, "  "); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestNumbers(t *testing.T) {
	for want, got := range map[string]string{
		"0.012": times(0.0123), "0.99": times(0.99), "1.00": times(1), "9.99": times(9.99), "10.0": times(9.996), "64.2": times(64.2), "128": times(128.4),
		"1.500µs": seconds(1500), "20.00ms": seconds(20e6), "99": percent(0.99),
	} {
		if got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}
