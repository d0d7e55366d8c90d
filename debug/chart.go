package debug

import (
	"math"
	"strconv"
	"time"

	"github.com/stint-go/stint"
)

// A chart is the limit of a limiter over time, as a line of steps. Its places are
// coordinates of an SVG that is as wide as a telephone, so that text is read in the
// size in which it is drawn.
type chart struct {
	Wide, High  string
	Left, Right string // ends of the levels
	Floor       string // where the limit is zero
	Line, Area  string // paths: the limit, and all that is below it
	End         string // how high the limit is now
	Levels      []level
	Steps       []step
	Moments     []moment
}

// A level is a line across the chart, with a limit at its left.
type level struct{ Y, Base, Text string }

// A step is the time from a change to the next one, or until now.
type step struct {
	X, Wide string
	Change  stint.LimitChange
}

// A moment is a time that is told below the chart.
type moment struct{ X, Base, Anchor, Text string }

// Sizes of a chart.
const (
	wide    = 360.0
	high    = 148.0
	right   = wide - 4
	ceiling = 8.0
	floor   = 128.0
	digit   = 6.5 // how wide one is, or a little less
)

// Chart draws the history of l, which has one change at least, until now.
func (l limiterStats) Chart(now time.Time) chart {
	limits := make([]int, 0, len(l.History)+1)
	most := l.Limit
	for _, change := range l.History {
		limits = append(limits, change.Limit)
		most = max(most, change.Limit)
	}
	limits = append(limits, l.Limit) // it may have moved on since the last change

	highest, unit := scale(float64(most))
	left := digit*float64(len(whole(highest))) + 6
	at := places(l.History, now, left)
	y := func(limit float64) float64 { return floor - (floor-ceiling)*limit/highest }

	c := chart{Wide: num(wide), High: num(high), Left: num(left), Right: num(right), Floor: num(floor), End: num(y(float64(l.Limit)))}
	for v := 0.0; v <= highest; v += unit {
		c.Levels = append(c.Levels, level{num(y(v)), num(y(v) + 4), whole(v)})
	}
	c.Line = "M" + num(left) + " " + num(y(float64(limits[0])))
	for i, change := range l.History {
		c.Line += "H" + num(at[i+1]) + "V" + num(y(float64(limits[i+1])))
		c.Steps = append(c.Steps, step{num(at[i]), num(at[i+1] - at[i]), change})
	}
	c.Area = c.Line + "V" + num(floor) + "H" + num(left) + "z"
	c.Moments = moments(l.History, now, at)
	return c
}

// scale is where an axis from zero ends that has room for most, and how far its
// levels are apart: five at most, at round numbers.
func scale(most float64) (highest, unit float64) {
	for unit = 1; ; unit *= 10 {
		for _, u := range []float64{unit, 2 * unit, 5 * unit} {
			if most <= 4*u {
				return max(1, math.Ceil(most/u)) * u, u
			}
		}
	}
}

// places are where the changes are, and the present. Half of the width is time. The
// other half is shared by the steps in equal parts: of a search that took a second,
// nothing could be seen an hour later.
func places(history []stint.LimitChange, now time.Time, left float64) []float64 {
	first, steps := history[0].Time, float64(len(history))
	span := max(now.Sub(first), history[len(history)-1].Time.Sub(first), 1).Seconds()
	var at []float64
	for i, change := range history {
		share := (change.Time.Sub(first).Seconds()/span + float64(i)/steps) / 2
		at = append(at, left+share*(right-left))
	}
	return append(at, right)
}

// moments are the first change, the present, and the change that is nearest to the
// middle, if there is room for it.
func moments(history []stint.LimitChange, now time.Time, at []float64) []moment {
	form := time.TimeOnly
	if now.Sub(history[0].Time) > halfDay {
		form = "Jan 2 15:04"
	}
	base := num(floor + 15)
	out := []moment{{num(at[0]), base, "start", history[0].Time.Format(form)}, {num(right), base, "end", "now"}}
	mid, middle := 0, (at[0]+right)/2
	for i := range history {
		if math.Abs(at[i]-middle) < math.Abs(at[mid]-middle) {
			mid = i
		}
	}
	text := history[mid].Time.Format(form)
	half := digit * float64(len(text)) / 2
	if text != out[0].Text && at[mid]-half > at[0]+2*half+digit && at[mid]+half < right-4*digit {
		out = append(out, moment{num(at[mid]), base, "middle", text})
	}
	return out
}

// num writes a coordinate.
func num(v float64) string { return strconv.FormatFloat(math.Round(10*v)/10, 'f', -1, 64) }

// whole writes a limit that is a level.
func whole(v float64) string { return commas(strconv.FormatFloat(v, 'f', 0, 64)) }
