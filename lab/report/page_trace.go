package report

import (
	"fmt"
	"html/template"
	"time"

	"github.com/stint-go/stint/lab/chart"
	"github.com/stint-go/stint/lab/result"
)

// traces returns the curves of what the models of a case did with their limits over
// time: of the limits, and of the throughput that was measured under them.
func (d *drawer) traces(c result.Case) []template.HTML {
	limits := chart.Curves{Y: chart.Axis{Label: "limit", Format: count}}
	rates := chart.Curves{Y: chart.Axis{Label: "throughput, ops per second", Format: count}}
	limitLines, rateLines := 0, 0
	for _, t := range d.Traces {
		if t.Case != c.Name || len(t.Points) == 0 {
			continue
		}
		m := d.Model(t.Model)
		limits.Lines = append(limits.Lines, chart.Line{Name: t.Model, Look: d.lineLook(m, &limitLines), Points: limitSteps(t.Points)})
		if points := throughputs(t.Points); len(points) > 0 {
			rates.Lines = append(rates.Lines, chart.Line{Name: t.Model, Look: d.lineLook(m, &rateLines), Points: points})
		}
	}
	var out []template.HTML
	for _, v := range []chart.Curves{limits, rates} {
		if len(v.Lines) == 0 {
			continue
		}
		v.X = chart.Axis{Label: "time", Format: tick(duration)}
		v.Frame = d.frame(c.Name+", "+v.Y.Label+" over time", "Curves of the changes of limits in one run.")
		d.signs.curves(v)
		out = append(out, template.HTML(v.SVG()))
	}
	return out
}

// limitSteps returns the corners of the limit, which stays until the next change.
func limitSteps(points []result.Point) []chart.Point {
	var out []chart.Point
	for i, p := range points {
		at := p.At * float64(time.Second)
		if i > 0 {
			out = append(out, chart.Point{X: at, Y: chart.At(float64(points[i-1].Limit))})
		} else {
			out = append(out, chart.Point{Y: chart.At(float64(p.Limit))}) // from the start
		}
		out = append(out, chart.Point{X: at, Y: chart.At(float64(p.Limit)), Words: fmt.Sprintf("%s: limit %d", duration(at), p.Limit)})
	}
	return out
}

// throughputs returns the points that measured the throughput.
func throughputs(points []result.Point) []chart.Point {
	var out []chart.Point
	for i, p := range points {
		if p.Throughput > 0 && i > 0 {
			at := p.At * float64(time.Second)
			out = append(out, chart.Point{X: at, Y: chart.At(p.Throughput), Words: fmt.Sprintf("%s: %.0f ops per second with limit %d", duration(at), p.Throughput, points[i-1].Limit)})
		}
	}
	return out
}
