package report

import (
	"cmp"
	"fmt"
	"html/template"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/stint-go/stint/lab/chart"
	"github.com/stint-go/stint/lab/measure"
	"github.com/stint-go/stint/lab/result"
	"github.com/stint-go/stint/lab/stats"
)

// A figure is a drawing with its table.
type figure struct {
	Name, Note string
	SVG        template.HTML
	Table      Grid
}

// draw adds the figures, the main cases as bars, sweeps and cases that differ in
// a number as curves, and the tables of all other cases.
func (c *chapter) draw() {
	for _, k := range c.Main() {
		c.drawBars(k)
	}
	shown := each(c.Main(), func(k result.Case) string { return k.Name })
	for _, k := range c.Cases {
		c.drawSweep(k)
		c.drawTraces(k)
		if g := newGrid(c.Result, k); !slices.Contains(shown, k.Name) && len(g.Rows) > 0 {
			c.Tables = append(c.Tables, g)
		}
	}
	for _, f := range families(c.Cases) {
		for _, u := range []measure.Unit{measure.Time, measure.P50, measure.P99} {
			c.drawFamily(f, u)
		}
	}
}

// frame names the next drawing.
func (c *chapter) frame(title, desc string) chart.Frame {
	return chart.Frame{ID: fmt.Sprintf("chart-%s-%d", c.Experiment, len(c.Figures)), Title: c.Experiment + ": " + title, Desc: desc}
}

func (c *chapter) add(name, note, svg string, table Grid) {
	c.Figures = append(c.Figures, figure{name, note, template.HTML(svg), table})
}

// looks are the looks of kinds.
var looks = map[result.Kind]chart.Look{result.Ours: chart.Ours, result.Peer: chart.Plain, result.Floor: chart.Dashed}

// drawBars draws the medians of a case, the smallest first: of the time, or of
// other units if no time was measured.
func (c *chapter) drawBars(k result.Case) {
	rows := c.In(k.Name)
	all := measured(rows)
	units := slices.DeleteFunc(slices.Clone(all), func(col column) bool {
		return !slices.Contains([]measure.Unit{measure.Time, measure.P50, measure.P99, measure.PeakMemory}, col.unit)
	})
	if len(units) == 0 || units[0].unit == measure.Time {
		units = all[:min(1, len(all))]
	}
	for _, col := range units {
		b := chart.Bars{Axis: chart.Axis{Label: col.name, Format: tick(col.format)}}
		slices.SortStableFunc(rows, func(x, y *result.Row) int {
			return cmp.Compare(x.Median(col.unit).Median, y.Median(col.unit).Median)
		})
		for _, row := range rows {
			if e := row.Median(col.unit); e.N > 0 {
				b.Bars = append(b.Bars, chart.Bar{Name: row.Model, Look: looks[c.Kind(row.Model)], Value: value(e), Text: col.format(e.Median)})
			}
		}
		b.Frame = c.frame(k.Name+", "+col.name, fmt.Sprintf("Bars of %d models, the smallest is %s.", len(b.Bars), b.Bars[0].Name))
		c.add(k.Name, about(c.Result, k), b.SVG(), newGrid(c.Result, k))
	}
}

// A point is a point of a line, or a level for all values of x.
type point struct {
	line  string
	kind  result.Kind
	level bool
	x     float64
	e     stats.Estimate
}

// fewestPoints make a curve.
const fewestPoints = 3

// drawCurve draws points as lines: ours first, then peers', then levels, the
// smallest first, as many as can be told apart. Its table has all.
func (c *chapter) drawCurve(name, note string, x, y chart.Axis, points []point) {
	lines := groupBy(points, func(p point) string { return p.line })
	if !slices.ContainsFunc(lines, func(g grouped[point]) bool { return len(g.items) >= fewestPoints }) {
		return
	}
	slices.SortStableFunc(lines, func(a, b grouped[point]) int {
		rank := func(g grouped[point]) int {
			switch p := g.items[0]; {
			case p.level:
				return 2
			case p.kind != result.Ours:
				return 1
			}
			return 0
		}
		last := func(g grouped[point]) float64 { return g.items[len(g.items)-1].e.Median }
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(last(a), last(b)))
	})
	curves := chart.Curves{X: x, Y: chart.Axis{Label: y.Label, Format: tick(y.Format)}}
	table := Grid{Name: name + ": " + y.Label, Head: []string{"model", x.Label, y.Label}}
	for _, g := range lines {
		l := chart.Line{Name: g.key, Ours: g.items[0].kind == result.Ours, Level: g.items[0].level}
		for _, p := range g.items {
			at := x.Format(p.x)
			if p.level {
				at = "any"
			}
			l.Points = append(l.Points, chart.Point{X: p.x, Y: value(p.e), Words: fmt.Sprintf("%s, %s %s: %s", p.line, x.Label, at, short(p.e, y.Format))})
			table.Rows = append(table.Rows, []string{p.line, at, short(p.e, y.Format)})
		}
		if l.Level || len(l.Points) > 1 {
			curves.Lines = append(curves.Lines, l)
		}
	}
	curves.Lines = curves.Lines[:min(chart.MaxLines, len(curves.Lines))]
	first := map[bool]int{true: 1} // ours have the first colours
	slices.SortStableFunc(curves.Lines, func(a, b chart.Line) int { return first[b.Ours] - first[a.Ours] })
	if n := len(curves.Lines); n < len(lines) {
		note += fmt.Sprintf("; %d of %d models, the table has all", n, len(lines))
	}
	curves.Frame = c.frame(name+", "+y.Label, fmt.Sprintf("Curves of %d models over %s.", len(curves.Lines), x.Label))
	c.add(name, note, curves.SVG(), table)
}

// drawSweep draws the times of the models of a case that differ in a number.
func (c *chapter) drawSweep(k result.Case) {
	var points []point
	var labels []string
	for _, row := range c.In(k.Name) {
		m, e := c.Model(row.Model), row.Median(measure.Time)
		if e.N == 0 {
			continue
		}
		p := point{line: m.Name, kind: m.Kind, level: m.Sweep == "", x: m.At, e: e}
		if !p.level {
			p.line = cmp.Or(strings.Trim(strings.TrimSuffix(m.Name, fmt.Sprint(m.At)), "-="), m.Sweep)
			labels = append(labels, m.Sweep)
		}
		points = append(points, p)
	}
	c.drawCurve(k.Name, about(c.Result, k), chart.Axis{Label: strings.Join(unique(labels), ", "), Format: count}, chart.Axis{Label: "time/op", Format: duration}, points)
}

// A member is a case with one of the numbers in its name, and the name without.
type member struct {
	result.Case
	family, key string
	at          float64
	format      func(float64) string
}

// families finds the sets of cases whose names differ in one number, the largest
// first. A case is in one only.
func families(cases []result.Case) []grouped[member] {
	var members []member
	for _, c := range cases {
		parts := strings.Split(c.Name, "/")
		for i, part := range parts {
			key, text, _ := strings.Cut(part, "=")
			at, err := strconv.ParseFloat(strings.TrimSuffix(text, "%"), 64)
			format := count
			if d, e := time.ParseDuration(text); e == nil && err != nil {
				at, err, format = float64(d), nil, tick(duration)
			}
			if err == nil {
				name := strings.Join(slices.Concat(parts[:i], []string{key + "=N"}, parts[i+1:]), "/")
				members = append(members, member{c, name, key, at, format})
			}
		}
	}
	families := groupBy(members, func(m member) string { return m.family })
	slices.SortStableFunc(families, func(a, b grouped[member]) int { return cmp.Compare(len(b.items), len(a.items)) })
	taken := map[string]bool{}
	return slices.DeleteFunc(families, func(f grouped[member]) bool {
		used := slices.ContainsFunc(f.items, func(m member) bool { return taken[m.Name] })
		for _, m := range f.items {
			taken[m.Name] = taken[m.Name] || !used && len(f.items) >= fewestPoints
		}
		return used
	})
}

// maxGrowth is the growth of a reference's values above which curves show
// multiples of it. Otherwise they would mainly show how the work grows.
const maxGrowth = 10

// drawFamily draws one unit of a family.
func (c *chapter) drawFamily(f grouped[member], u measure.Unit) {
	first, col := f.items[0], describe(u)
	y := chart.Axis{Label: col.name, Format: col.format}
	references := each(f.items, func(m member) float64 { return c.Row(m.Name, first.Reference).Median(u).Median })
	lo, hi := slices.Min(references), slices.Max(references)
	relative := lo > 0 && hi/lo > maxGrowth
	if relative {
		y = chart.Axis{Label: col.name + ", × " + first.Reference, Format: times}
	}
	var points []point
	for _, m := range f.items {
		for _, row := range c.In(m.Name) {
			e := row.Median(u)
			if relative {
				e = row.Ratio(c.Row(m.Name, first.Reference), u)
			}
			if e.N > 0 {
				points = append(points, point{line: row.Model, kind: c.Kind(row.Model), x: m.at, e: e})
			}
		}
	}
	c.drawCurve(f.key, first.Doc, chart.Axis{Label: first.key, Format: first.format}, y, points)
}

// drawTraces draws how the models of a case changed their limits over time.
func (c *chapter) drawTraces(k result.Case) {
	var points []point
	for _, t := range c.Traces {
		for _, p := range t.Points {
			if t.Case == k.Name {
				points = append(points, point{line: t.Model, kind: c.Kind(t.Model), x: p.At * float64(time.Second), e: stats.Estimate{N: 1, Median: float64(p.Limit)}})
			}
		}
	}
	c.drawCurve(k.Name, "changes of the limit in one run", chart.Axis{Label: "time", Format: tick(duration)}, chart.Axis{Label: "limit", Format: count}, points)
}

// value converts an estimate.
func value(e stats.Estimate) chart.Value {
	if e.Interval == nil {
		return chart.Value{Mid: e.Median, Lo: e.Median, Hi: e.Median}
	}
	return chart.Value{Mid: e.Median, Lo: e.Interval.Lo, Hi: e.Interval.Hi}
}

// tick formats round values, without trailing zeros.
func tick(format func(float64) string) func(float64) string {
	return func(v float64) string {
		number, unit, _ := strings.Cut(format(v), " ")
		if strings.Contains(number, ".") {
			number = strings.TrimRight(strings.TrimRight(number, "0"), ".")
		}
		if number == "0" {
			unit = ""
		}
		return strings.TrimSpace(number + " " + unit)
	}
}

// count formats a position on an axis.
var count = tick(number)
