package report

import (
	"cmp"
	"fmt"
	"html/template"
	"math"
	"slices"
	"strings"

	"github.com/stint-go/stint/lab/chart"
	"github.com/stint-go/stint/lab/measure"
	"github.com/stint-go/stint/lab/result"
	"github.com/stint-go/stint/lab/stats"
)

// A drawer draws the figures of a result.
type drawer struct {
	*result.Result
	drawn int // number of drawings so far
	found families
	signs signs
}

// frame names a drawing.
func (d *drawer) frame(title, desc string) chart.Frame {
	d.drawn++
	return chart.Frame{ID: fmt.Sprintf("chart-%s-%d", d.Experiment, d.drawn), Title: d.Experiment + ": " + title, Desc: desc}
}

// figures returns a figure for each single case and each family, in order of
// the cases.
func (d *drawer) figures() []figure {
	var out []figure
	families := d.families()
	for _, c := range d.Cases {
		f := families.of(c)
		switch {
		case len(d.In(c.Name)) == 0: // interrupted before
		case f == nil:
			out = append(out, d.single(c))
		case f.cases[0].Name == c.Name:
			out = append(out, d.curve(f))
		}
	}
	return out
}

// single returns the figure of one case.
func (d *drawer) single(c result.Case) figure {
	return figure{Name: c.Name, Note: about(d.Result, c), SVG: append(d.drawings(c), d.traces(c)...), Tables: []sheet{d.sheet(c)}}
}

// pictured are the units with bars. If no time was measured, all measured units
// have bars.
var pictured = []measure.Unit{measure.Time, measure.P50, measure.P99, measure.IdleCPU, measure.PeakMemory, measure.PeakRSS}

// drawings returns the drawings of one case: a curve if models differ in a
// number, and bars.
func (d *drawer) drawings(c result.Case) []template.HTML {
	var out []template.HTML
	svg := func(s string) { out = append(out, template.HTML(s)) }
	rows := d.In(c.Name)
	units := pictured
	if len(measured(rows, measure.Time)) == 0 {
		units = each(columns, func(col column) measure.Unit { return col.unit })
	}
	swept := d.sweeps(c)
	if len(swept.Lines) > 0 {
		svg(swept.SVG())
	}
	for _, u := range units {
		checkModels := measured(rows, u)
		switch {
		case len(checkModels) == 0:
		case u != measure.Time && (len(checkModels) > 1 || len(out) == 0):
			svg(d.bars(c, u, checkModels).SVG())
		case u == measure.Time && (len(swept.Lines) == 0 || d.unswept(rows) > fewLevels):
			svg(d.bars(c, u, rows).SVG())
		}
	}
	return out
}

// measured returns the rows that have a unit.
func measured(rows []*result.Row, u measure.Unit) []*result.Row {
	return slices.DeleteFunc(slices.Clone(rows), func(row *result.Row) bool { return len(row.Measured(u)) == 0 })
}

// unswept returns how many rows are of models without a sweep.
func (d *drawer) unswept(rows []*result.Row) int {
	n := 0
	for _, row := range rows {
		if d.Model(row.Model).Sweep == "" {
			n++
		}
	}
	return n
}

// sheet returns the table of a case. Its column names are unique, for screen
// readers.
func (d *drawer) sheet(c result.Case) sheet {
	g := newGrid(d.Result, c)
	for i, name := range g.head {
		if of, ok := strings.CutPrefix(name, "x "); ok {
			g.head[i] = "× " + of
		}
		if name == "interval" {
			g.head[i] = "interval of " + g.head[i-1]
		}
	}
	for _, row := range g.rows {
		if best, ok := strings.CutPrefix(row[0], "* "); ok {
			row[0] = "★ " + best
		}
	}
	return sheet{Name: c.Name, Note: about(d.Result, c), grid: g}
}

// bars returns the medians of a unit, the smallest first, and rows without it
// last.
func (d *drawer) bars(c result.Case, u measure.Unit, rows []*result.Row) chart.Bars {
	col := describe(u)
	out := chart.Bars{Axis: chart.Axis{Label: col.name, Format: tick(col.format)}}
	reference := d.Row(c.Name, c.Reference)
	if reference != nil && len(reference.Measured(u)) > 0 {
		out.Beside = "× " + c.Reference
	}
	best := d.Best(c.Name, u, result.Model.IsCandidate)
	rows = slices.Clone(rows)
	slices.SortStableFunc(rows, func(a, b *result.Row) int {
		x, y := a.Median(u), b.Median(u)
		if x.N == 0 || y.N == 0 {
			return cmp.Compare(y.N, x.N)
		}
		return cmp.Compare(x.Median, y.Median)
	})
	for _, row := range rows {
		e := row.Median(u)
		bar := chart.Bar{Name: row.Model, Look: looks[d.Kind(row.Model)], Value: value(e), Text: median(e, col.format), Best: row == best}
		if ratio := row.Ratio(reference, u); out.Beside != "" && finite(ratio.Median) { // not a division by zero
			bar.Note = median(ratio, times)
		}
		d.signs.bar(bar.Look)
		out.Bars = append(out.Bars, bar)
	}
	smallest := "nothing was measured of ours and of peers"
	if best != nil {
		smallest = fmt.Sprintf("the smallest is %s of %s", median(best.Median(u), col.format), best.Model)
	}
	out.Frame = d.frame(c.Name+", "+col.name, fmt.Sprintf("Bars of %d models; %s.", len(rows), smallest))
	return out
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// looks are the looks of kinds, as in the legend.
var looks = map[result.Kind]chart.Look{result.Ours: chart.Strong, result.Peer: chart.Plain, result.Floor: chart.Dashed}

// fewLevels is how many models without a number a curve may show. If there are
// more, bars show them.
const fewLevels = 5

// sweeps draws the times of the models of a case that differ in a number.
func (d *drawer) sweeps(c result.Case) chart.Curves {
	lines := map[string]*chart.Line{}
	var order, numbers []string
	var rest []*result.Row
	ours := 0
	for _, row := range d.In(c.Name) {
		m := d.Model(row.Model)
		if m.Sweep == "" {
			rest = append(rest, row)
			continue
		}
		name := stem(m)
		if lines[name] == nil {
			order = append(order, name)
			if !slices.Contains(numbers, m.Sweep) {
				numbers = append(numbers, m.Sweep)
			}
			lines[name] = &chart.Line{Name: name, Look: d.lineLook(m, &ours)}
		}
		e := row.Median(measure.Time)
		if e.N == 0 {
			continue
		}
		lines[name].Points = append(lines[name].Points, chart.Point{X: m.At, Y: value(e), Words: fmt.Sprintf("%s: %s", row.Model, short(e, duration))})
	}
	var out chart.Curves
	for _, name := range order {
		if len(lines[name].Points) >= fewestPoints {
			out.Lines = append(out.Lines, *lines[name])
		}
	}
	if len(out.Lines) == 0 {
		return out
	}
	out.X = chart.Axis{Label: "N: " + strings.Join(numbers, ", "), Format: count}
	out.Y = chart.Axis{Label: "time/op", Format: tick(duration)}
	out.Levels = d.levels(c, measured(rest, measure.Time), &ours)
	d.signs.curves(out)
	out.Frame = d.frame(c.Name+", time/op by "+out.X.Label, fmt.Sprintf("Curves of %s; dashed lines are models without that number.", strings.Join(order, " and ")))
	return out
}

// stem returns the common name of a sweep's models, with N in place of the
// number.
func stem(m result.Model) string {
	if s, ok := strings.CutSuffix(m.Name, fmt.Sprint(m.At)); ok && s != "" {
		return s + "N"
	}
	return m.Sweep
}

// levels returns the models compared with a sweep: all if there are few,
// otherwise our fastest, the fastest peer, the reference and floors.
func (d *drawer) levels(c result.Case, rest []*result.Row, ours *int) []chart.Level {
	fastest := map[result.Kind]*result.Row{}
	for _, row := range rest {
		k := d.Kind(row.Model)
		if fastest[k] == nil || row.Median(measure.Time).Median < fastest[k].Median(measure.Time).Median {
			fastest[k] = row
		}
	}
	var out []chart.Level
	for _, row := range rest {
		m := d.Model(row.Model)
		if len(rest) > fewLevels && m.Kind != result.Floor && row != fastest[m.Kind] && row.Model != c.Reference {
			continue
		}
		out = append(out, chart.Level{Name: row.Model, Look: d.lineLook(m, ours), Y: value(row.Median(measure.Time))})
	}
	return out
}

// lineLook returns the look of the next line. Our lines have different looks,
// as far as there are looks.
func (d *drawer) lineLook(m result.Model, ours *int) chart.Look {
	if m.Kind != result.Ours {
		return looks[m.Kind]
	}
	look := []chart.Look{chart.Strong, chart.Second, chart.Third}[min(*ours, 2)]
	*ours++
	return look
}

// value converts an estimate.
func value(e stats.Estimate) chart.Value {
	switch {
	case e.N == 0:
		return chart.At(math.NaN())
	case e.Interval == nil:
		return chart.At(e.Median)
	}
	return chart.Value{Mid: e.Median, Lo: e.Interval.Lo, Hi: e.Interval.Hi}
}

// tick formats round values, without trailing zeros.
func tick(format func(float64) string) func(float64) string {
	return func(v float64) string {
		if v == 0 {
			return "0"
		}
		number, unit, _ := strings.Cut(format(v), " ")
		if strings.Contains(number, ".") {
			number = strings.TrimRight(strings.TrimRight(number, "0"), ".")
		}
		return strings.TrimSpace(number + " " + unit)
	}
}

// count formats a number with few letters.
func count(v float64) string {
	for _, u := range []struct {
		size float64
		name string
	}{{1e9, "G"}, {1e6, "M"}, {1e3, "k"}} {
		if v >= u.size && math.Mod(v, u.size/10) == 0 {
			return fmt.Sprint(v/u.size) + u.name
		}
	}
	return fmt.Sprint(v)
}
