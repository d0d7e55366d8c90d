package draw

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/aclements/go-moremath/scale"
	"golang.org/x/perf/benchmath"
)

// A Curve is a line over a number.
type Curve struct {
	Name   string
	Points map[float64]benchmath.Summary
}

const (
	curvesWide = 480.0
	plotHigh   = 200.0
)

// Curves returns a drawing of curves, with the labels of both axes and a format for the values. There must be points.
func Curves(id, title, xLabel, yLabel string, format func(float64) string, curves []Curve) string {
	var xs, ys []float64
	for _, l := range curves {
		for x, v := range l.Points {
			xs, ys = append(xs, x), append(ys, v.Lo, v.Hi)
		}
	}
	y, left := newAxis(ys, 2*line+plotHigh, 2*line), 0.0
	for _, t := range y.ticks {
		left = max(left, 6.3*float64(utf8.RuneCountInString(format(t)))) // about the width of the text
	}
	x := newAxis(xs, left+2*gap, curvesWide-4*gap)
	c := new(canvas)
	c.text(0, line, "start", "soft", false, yLabel)
	for _, t := range y.ticks {
		c.line("grid", 1, "M%.1f %.1fH%.1f", x.from, y.at(t), x.to)
		c.text(x.from-gap, y.at(t)+4, "end", "soft", false, format(t))
	}
	for _, t := range x.ticks {
		c.line("soft", 1, "M%.1f %.1fv3", x.at(t), y.from)
		c.text(x.at(t), y.from+line, "middle", "soft", false, fmt.Sprint(t))
	}
	for i, l := range slices.Backward(curves) { // the first on top
		c.curve(l, x, y, colour(i))
	}
	bottom := y.from + 2*line
	c.text((x.from+x.to)/2, bottom, "middle", "soft", false, xLabel)
	for i, l := range curves { // the legend
		bottom += line + 2
		c.line(colour(i), 1, "M%.1f %.1fh18", x.from, bottom-4)
		c.text(x.from+24, bottom, "start", "ink", i == 0, l.Name)
	}
	return c.svg(id, title, curvesWide, bottom+gap)
}

func colour(i int) string { return fmt.Sprintf("line%d", i%8) }

// curve draws the band of the intervals, the line and the points.
func (c *canvas) curve(l Curve, x, y axis, colour string) {
	var up, mid, down []string
	for _, n := range slices.Sorted(maps.Keys(l.Points)) {
		at := func(v float64) string { return fmt.Sprintf("%.1f %.1f", x.at(n), y.at(v)) }
		up, mid, down = append(up, at(l.Points[n].Hi)), append(mid, at(l.Points[n].Center)), append(down, at(l.Points[n].Lo))
	}
	slices.Reverse(down)
	c.WriteString(`<g opacity=".15">`)
	c.fill(colour, "M%sL%sz", strings.Join(up, "L"), strings.Join(down, "L"))
	c.WriteString("</g>\n")
	c.line(colour, 1.6, "M%s", strings.Join(mid, "L"))
	for _, at := range mid {
		c.fill(colour, "M%sm-3 0a3 3 0 1 0 6 0a3 3 0 1 0-6 0z", at)
	}
}

// An axis maps values to positions: linear from zero or, if all values are positive and far apart, logarithmic.
type axis struct {
	scale.Quantitative
	from, to float64
	ticks    []float64
}

func newAxis(values []float64, from, to float64) axis {
	lo, hi, few := slices.Min(values), slices.Max(values), scale.TickOptions{Max: 8}
	a := axis{&scale.Linear{Max: cmp.Or(hi, 1)}, from, to, nil}
	if lo > 0 && hi/lo >= 8 {
		a.Quantitative = &scale.Log{Min: lo, Max: hi, Base: 10}
	}
	a.Nice(few)
	a.ticks, _ = a.Ticks(few)
	return a
}

func (a axis) at(v float64) float64 { return a.from + a.Map(v)*(a.to-a.from) }
