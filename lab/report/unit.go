package report

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/stint-go/stint/lab/measure"
	"github.com/stint-go/stint/lab/result"
	"github.com/stint-go/stint/lab/stats"
)

// A column presents a unit.
type column struct {
	unit   measure.Unit
	name   string
	format func(float64) string
}

// columns are all units in printing order.
var columns = []column{
	{measure.Time, "time/op", duration},
	{measure.CPU, "user+sys", duration},
	{measure.Rate, "MB/s", number},
	{measure.Bytes, "bytes/op", size},
	{measure.Allocs, "allocs/op", number},
	{measure.PeakRSS, "peak RSS", size},
	{measure.PeakRSSBound, "peak RSS at most", size},
	{measure.PeakMemory, "peak heap+stack", size},
	{measure.SubmitterPeak, "peak of submitter", size},
	{measure.WorkerPeak, "peak of worker", size},
	{measure.ServerPeak, "peak of server", size},
	{measure.PeakGoroutines, "peak goroutines", number},
	{measure.Goroutines, "goroutines", number},
	{measure.AtOnce, "at once", number},
	{measure.P50, "p50", duration},
	{measure.P99, "p99", duration},
	{measure.P999, "p99.9", duration},
	{measure.Spread, "spread", duration},
	{measure.Refused, "refused", number},
	{measure.Switches, "switches/op", number},
	{measure.Scheduled, "scheduled/op", number},
	{measure.Collections, "GCs/op", number},
	{measure.Failures, "failures", number},
}

// describe returns the column of a unit, or a plain one for an unknown unit.
func describe(u measure.Unit) column {
	for _, c := range columns {
		if c.unit == u {
			return c
		}
	}
	return column{u, string(u), number}
}

// measured returns the columns that some row has.
func measured(rows []*result.Row) []column {
	return slices.DeleteFunc(slices.Clone(columns), func(col column) bool {
		return !slices.ContainsFunc(rows, func(row *result.Row) bool { return row.Median(col.unit).N > 0 })
	})
}

// scaled formats a value with three digits in the largest suitable unit. Units
// are 1,000 apart; the first is the value's.
func scaled(v float64, units ...string) string {
	i := 0
	for i < len(units)-1 && math.Abs(v) >= 999.5 {
		v /= 1000
		i++
	}
	return times(v) + " " + units[i]
}

func duration(ns float64) string { return scaled(ns, "ns", "µs", "ms", "s") }
func size(bytes float64) string  { return scaled(bytes, "B", "KB", "MB", "GB") }
func number(count float64) string {
	if math.Abs(count) >= 1e6 {
		return times(count/1e6) + " M"
	}
	return times(count)
}

// times formats three digits, or more before the point.
func times(v float64) string {
	switch a := math.Abs(v); {
	case a == 0:
		return "0"
	case a < 0.0005:
		return "<0.001"
	case a < 0.9995:
		return strconv.FormatFloat(v, 'f', 3, 64)
	case a < 9.995:
		return strconv.FormatFloat(v, 'f', 2, 64)
	case a < 99.95:
		return strconv.FormatFloat(v, 'f', 1, 64)
	}
	return strconv.FormatFloat(v, 'f', 0, 64)
}

const unmeasured = "not measured"

// short formats an estimate with its interval, if it has one.
func short(e stats.Estimate, format func(float64) string) string {
	switch in := e.Interval; {
	case e.N == 0:
		return unmeasured
	case in == nil:
		return format(e.Median) + " [no interval]"
	default:
		return fmt.Sprintf("%s [%s, %s]", format(e.Median), format(in.Lo), format(in.Hi))
	}
}
