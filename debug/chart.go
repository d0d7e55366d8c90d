package debug

import (
	"math"
	"strconv"
	"time"

	"github.com/stint-go/stint"
)

// A chart is the limit of a limiter over time, as a line of steps. Its fields are coordinates
// of an SVG as wide as a phone, so that its text is not scaled there.
type chart struct {
	Largest    int    // limit, which is the end of the axis
	End        string // y of the current limit
	Line, Area string // paths: the limit, and the area below it
	Steps      []step
}

// A step is the time from a change to the next, or until now.
type step struct {
	X, Wide string
	Change  stint.LimitChange
}

// Chart draws the history of l until now. It must have a change.
func (l limiterStats) Chart(now time.Time) chart {
	const wide, ceiling, floor = 356.0, 18.0, 124.0
	c := chart{Largest: max(1, l.Limit)} // it may have changed since the history was taken; 0 during a pause
	for _, change := range l.History {
		c.Largest = max(c.Largest, change.Limit)
	}
	y := func(limit int) float64 { return floor - (floor-ceiling)*float64(limit)/float64(c.Largest) }
	x := positions(l.History, now, wide)
	c.Line = "M0 " + num(y(l.History[0].Limit))
	for i, change := range l.History {
		c.Line += "V" + num(y(change.Limit)) + "H" + num(x[i+1])
		c.Steps = append(c.Steps, step{num(x[i]), num(x[i+1] - x[i]), change})
	}
	c.End = num(y(l.Limit))
	c.Line += "V" + c.End
	c.Area = c.Line + "V" + num(floor) + "H0z"
	return c
}

// positions returns the x of each change and of the present. Half of the width is time; the
// steps share the other half in equal parts. Otherwise a search that took a second could
// not be seen an hour later.
func positions(history []stint.LimitChange, now time.Time, wide float64) (x []float64) {
	first, steps := history[0].Time, float64(len(history))
	all := max(now.Sub(first), history[len(history)-1].Time.Sub(first), 1).Seconds()
	for i, change := range history {
		x = append(x, wide*(change.Time.Sub(first).Seconds()/all+float64(i)/steps)/2)
	}
	return append(x, wide)
}

// num formats a coordinate.
func num(v float64) string { return strconv.FormatFloat(math.Round(10*v)/10, 'f', -1, 64) }
