package debug

import (
	"fmt"
	"math"
	"slices"
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
	c := chart{Largest: l.Limit} // it may have changed since the history was taken
	for _, change := range l.History {
		c.Largest = max(c.Largest, change.Limit)
	}
	y := func(limit int) float64 { return floor - (floor-ceiling)*float64(limit)/float64(c.Largest) }
	x := positions(l.History, now, wide)
	var heights []float64
	for i, change := range l.History {
		heights = append(heights, y(change.Limit))
		c.Steps = append(c.Steps, step{num(x[i]), num(x[i+1] - x[i]), change})
	}
	c.End = num(y(l.Limit))
	c.Line = path(x, heights) + "V" + c.End
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

// path draws steps: y[i] from x[i] to x[i+1].
func path(x, y []float64) string {
	line := "M" + num(x[0]) + " " + num(y[0])
	for i := range y {
		line += "V" + num(y[i]) + "H" + num(x[i+1])
	}
	return line
}

// num formats a coordinate.
func num(v float64) string { return strconv.FormatFloat(math.Round(10*v)/10, 'f', -1, 64) }

// A spark is tasks per second over time, as a line in a small SVG, and the most in words.
type spark struct{ Line, Text string }

// Spark draws s. It returns nil if there are fewer than three samples.
func (s series) Spark() *spark {
	const wide, high = 120.0, 24.0
	rates := s.rates()
	if len(rates) < 2 {
		return nil
	}
	begin, all := s[0].time, s[len(s)-1].time.Sub(s[0].time)
	most := slices.Max(rates)
	x, y := []float64{0}, []float64(nil)
	for i, r := range rates {
		x = append(x, wide*s[i+1].time.Sub(begin).Seconds()/all.Seconds())
		y = append(y, 1+(high-2)*(1-r/max(most, 1e-9)))
	}
	return &spark{path(x, y), fmt.Sprintf("at most %s in %v", commas(rate(&most)), all.Round(time.Second))}
}
