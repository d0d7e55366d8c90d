package advise

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// String returns the report as text.
func (r *Report) String() string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("%d items. %d calls were measured in %s.\n", r.N, r.Calls, short(r.Took))
	if item := r.Item; item.Measured > 0 {
		text := fmt.Sprintf("An item takes %s alone", short(item.Wall))
		if item.P99 > 0 {
			text += fmt.Sprintf(" (p99 %s)", short(item.P99))
		}
		if r.Work != Unknown {
			text += fmt.Sprintf(", of which %s on a CPU: it %s", short(item.CPU), r.Work)
		}
		line("%s. Memory: %s.", text, size(item.Memory))
	}
	answer := strings.ToUpper(string(r.Answer[:1])) + string(r.Answer[1:])
	line("Does concurrency pay? %s: %s", answer, r.Reason)
	if len(r.Models) > 1 {
		line("")
		var most float64
		for _, m := range r.Models {
			most = max(most, m.PerSecond)
		}
		line("%-13s %9s %8s %9s %9s", "", "items/s", "speedup", "p50", "p99")
		for _, m := range r.Models {
			line("%-13s %9s %8s %9s %9s  %s", m.Name, times(m.PerSecond), times(m.Speedup.Median), short(m.P50), short(m.P99),
				strings.Repeat("█", int(30*m.PerSecond/most+0.5)))
		}
	}
	if r.Code != "" {
		line("\nWrite:\n\n\t%s", strings.ReplaceAll(r.Code, "\n", "\n\t"))
	}
	if len(r.Notes) > 0 {
		line("")
	}
	for _, note := range r.Notes {
		line("- %s", note)
	}
	return b.String()
}

// times returns three digits.
func times(x float64) string {
	if x >= 100 {
		return strconv.FormatFloat(x, 'f', 0, 64)
	}
	return strconv.FormatFloat(x, 'g', 3, 64)
}

// short returns three digits of a duration, and "" for 0.
func short(d time.Duration) string {
	if d == 0 {
		return ""
	}
	unit := time.Duration(1)
	for unit*1000 <= d {
		unit *= 10
	}
	return d.Round(unit).String()
}

func size(bytes uint64) string {
	x, unit := float64(bytes), 0
	for ; x >= 1000 && unit < 4; unit++ {
		x /= 1000
	}
	return times(x) + " " + []string{"bytes", "kB", "MB", "GB", "TB"}[unit]
}
