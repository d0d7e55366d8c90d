package report

import (
	"fmt"
	"html/template"
	"math"
	"time"

	"github.com/stint-go/stint/lab/chart"
	"github.com/stint-go/stint/lab/result"
)

// traces returns the curves of what the models of a case did with their limits over
// time: of the limits, and of the throughput that was measured under them.
func (d *drawer) traces(c result.Case) []template.HTML {
	limits := chart.Curves{Y: chart.Axis{Label: "limit", Format: tick(count)}}
	rates := chart.Curves{Y: chart.Axis{Label: "throughput, ops per second", Format: tick(count)}}
	drawn, last := 0, 0.0
	for _, t := range d.Traces {
		if t.Case != c.Name || len(t.Points) == 0 {
			continue
		}
		look := d.lineLook(d.Model(t.Model), &drawn)
		limits.Lines = append(limits.Lines, chart.Line{Name: t.Model, Look: look, Points: limitSteps(t.Points)})
		rates.Lines = append(rates.Lines, chart.Line{Name: t.Model, Look: look, Points: throughputSteps(t.Points)})
		last = max(last, nanoseconds(t.Points[len(t.Points)-1]))
	}
	var out []template.HTML
	for _, v := range []chart.Curves{limits, rates} {
		if !v.HasPoints() {
			continue
		}
		v.X = chart.Axis{Label: "time", Format: tick(duration)}
		v.To = last
		v.Frame = d.frame(c.Name+", "+v.Y.Label+" over time", "Curves of the changes of limits in one run.")
		d.signs.curves(v)
		out = append(out, template.HTML(v.SVG()))
	}
	return out
}

// nanoseconds returns the time of a point.
func nanoseconds(p result.Point) float64 { return p.At * float64(time.Second) }

// limitSteps returns the corners of the curve of a limit, which stays until the next
// change.
func limitSteps(points []result.Point) []chart.Point {
	out := []chart.Point{{Y: chart.At(float64(points[0].Limit))}} // from the start
	for i, p := range points {
		at := nanoseconds(p)
		if i > 0 {
			out = append(out, chart.Point{X: at, Y: chart.At(float64(points[i-1].Limit))})
		}
		out = append(out, chart.Point{X: at, Y: chart.At(float64(p.Limit)), Words: fmt.Sprintf("%s: limit %d", duration(at), p.Limit)})
	}
	return out
}

// throughputSteps returns the corners of the curve of the throughput, each measured
// before a change. Where none was measured, there is a gap.
func throughputSteps(points []result.Point) []chart.Point {
	var out []chart.Point
	for i, p := range points[1:] {
		from, at, y := nanoseconds(points[i]), nanoseconds(p), chart.At(math.NaN())
		if p.Throughput > 0 {
			y = chart.At(p.Throughput)
		}
		words := fmt.Sprintf("%s: %.0f per second with limit %d", duration(at), p.Throughput, points[i].Limit)
		out = append(out, chart.Point{X: from, Y: y}, chart.Point{X: at, Y: y, Words: words})
	}
	return out
}
