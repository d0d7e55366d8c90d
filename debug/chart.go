package debug

import (
	"math"
	"strconv"
	"time"

	"github.com/stint-go/stint"
)

// A chart is the limit of a limiter and its throughput over time, as two lines of steps
// with an axis each. Its fields are coordinates of an SVG as wide as a phone, so that its
// text is not scaled there.
type chart struct {
	Wide, High  string
	Left, Right string // ends of the levels
	Floor       string // y of a limit of zero
	Line, Area  string // paths: the limit, and the area below it
	End         string // y of the current limit
	Pace        string // path: the throughput; empty if it is not known
	Levels      []level
	Paces       []level // of the throughput
	Steps       []step
	Moments     []moment
}

// A level is a horizontal line, labelled with its limit, or a mark of the other axis.
type level struct{ Y, Base, Text string }

// A step is the time between two changes, or since the last.
type step struct {
	X, Wide string
	Change  stint.LimitChange
}

// A moment is a time that labels the chart below.
type moment struct{ X, Base, Anchor, Text string }

// Sizes of a chart.
const (
	wide    = 360.0
	high    = 148.0
	ceiling = 22.0 // below the names of the axes
	floor   = 128.0
	digit   = 7.0 // width of a digit in a wide font
)

// Chart draws the history of l until now. It must have a change.
func (l limiterStats) Chart(now time.Time) chart {
	limits := make([]int, 0, len(l.History)+1)
	largest := l.Limit
	for _, change := range l.History {
		limits = append(limits, change.Limit)
		largest = max(largest, change.Limit)
	}
	limits = append(limits, l.Limit) // it may have moved on since the last change

	highest, unit := scale(float64(largest))
	left, right := digit*float64(len(whole(highest)))+6, wide-4
	paces, most := l.paces(now)
	fastest, mark := scale(most)
	if len(paces) > 0 {
		right = wide - digit*float64(len(whole(fastest))) - 6
	}
	at := positions(l.History, now, left, right)
	y := func(limit float64) float64 { return height(limit, highest) }

	c := chart{Wide: num(wide), High: num(high), Left: num(left), Right: num(right), Floor: num(floor), End: num(y(float64(l.Limit)))}
	c.Levels = marks(highest, unit)
	c.Line = "M" + num(left) + " " + num(y(float64(limits[0])))
	for i, change := range l.History {
		c.Line += "H" + num(at[i+1]) + "V" + num(y(float64(limits[i+1])))
		c.Steps = append(c.Steps, step{num(at[i]), num(at[i+1] - at[i]), change})
	}
	c.Area = c.Line + "V" + num(floor) + "H" + num(left) + "z"
	c.Moments = moments(l.History, now, at)
	if len(paces) > 0 {
		c.Pace, c.Paces = drawn(paces, at, fastest), marks(fastest, mark)
	}
	return c
}

// scale returns the end of an axis from zero to at least largest, and the distance of its
// levels: at most five, at round numbers.
func scale(largest float64) (highest, unit float64) {
	for unit = 1; ; unit *= 10 {
		for _, u := range []float64{unit, 2 * unit, 5 * unit} {
			if largest <= 4*u {
				return max(1, math.Ceil(largest/u)) * u, u
			}
		}
	}
}

// height returns the y of v on an axis that ends at highest.
func height(v, highest float64) float64 { return floor - (floor-ceiling)*v/highest }

// marks returns the levels of an axis.
func marks(highest, unit float64) (out []level) {
	for v := 0.0; v <= highest; v += unit {
		y := height(v, highest)
		out = append(out, level{num(y), num(y + 4), whole(v)})
	}
	return out
}

// positions returns the x of each change and of the present. Half of the width is time; the
// steps share the other half in equal parts. Otherwise a search that took a second could
// not be seen an hour later.
func positions(history []stint.LimitChange, now time.Time, left, right float64) []float64 {
	first, steps := history[0].Time, float64(len(history))
	span := max(now.Sub(first), history[len(history)-1].Time.Sub(first), 1).Seconds()
	var at []float64
	for i, change := range history {
		share := (change.Time.Sub(first).Seconds()/span + float64(i)/steps) / 2
		at = append(at, left+share*(right-left))
	}
	return append(at, right)
}

// moments returns the first change, the present, and, if there is room, the change nearest
// to the middle.
func moments(history []stint.LimitChange, now time.Time, at []float64) []moment {
	form := time.TimeOnly
	if now.Sub(history[0].Time) > halfDay {
		form = "Jan 2 15:04"
	}
	base := num(floor + 15)
	out := []moment{{num(at[0]), base, "start", history[0].Time.Format(form)}, {num(at[len(history)]), base, "end", "now"}}
	right := at[len(history)]
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

// num formats a coordinate.
func num(v float64) string { return strconv.FormatFloat(math.Round(10*v)/10, 'f', -1, 64) }

// whole formats a whole number.
func whole(v float64) string { return commas(strconv.FormatFloat(v, 'f', 0, 64)) }
