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
	"github.com/stint-go/stint/lab/stats"
)

// A drawer draws the figures of a result.
type drawer struct {
	*Result
	drawn int // drawings that have a name by now
	found families
}

// frame gives a drawing its name in the page.
func (d *drawer) frame(title, desc string) chart.Frame {
	d.drawn++
	return chart.Frame{ID: fmt.Sprintf("chart-%s-%d", d.Experiment, d.drawn), Title: d.Experiment + ": " + title, Desc: desc}
}

// figures are one for each case that is by itself and one for each family, in
// the order of the cases.
func (d *drawer) figures() []figure {
	var out []figure
	families := d.families()
	for _, c := range d.Cases {
		f := families.of(c)
		switch {
		case len(d.in(c.Name)) == 0: // an interrupt came before
		case f == nil:
			out = append(out, d.single(c))
		case f.cases[0].Name == c.Name:
			out = append(out, d.curve(f))
		}
	}
	return out
}

// single is the figure of one case: a curve if models differ in a number, bars
// of time, and bars of memory where that was measured.
func (d *drawer) single(c Case) figure {
	fig := figure{Name: c.Name, Note: d.about(c), Tables: []sheet{d.sheet(c)}}
	svg := func(s string) { fig.SVG = append(fig.SVG, template.HTML(s)) }
	swept := d.sweeps(c)
	if len(swept.Lines) > 0 {
		svg(swept.SVG())
	}
	rows := d.in(c.Name)
	if rest := slices.DeleteFunc(slices.Clone(rows), func(row *Row) bool { return d.swept(row.Model) }); len(swept.Lines) == 0 || len(rest) > fewLevels {
		svg(d.bars(c, measure.Time, rows).SVG())
	}
	for _, u := range []measure.Unit{measure.PeakMemory, measure.PeakRSS} {
		var known []*Row
		for _, row := range rows {
			if len(row.measured(u)) > 0 {
				known = append(known, row)
			}
		}
		if len(known) > 1 {
			svg(d.bars(c, u, known).SVG())
		}
	}
	return fig
}

func (d *drawer) sheet(c Case) sheet {
	return sheet{Name: c.Name, Note: d.about(c), grid: d.grid(c)}
}

// bars are the medians of one unit, the smallest first.
func (d *drawer) bars(c Case, u measure.Unit, rows []*Row) chart.Bars {
	col := describe(u)
	out := chart.Bars{Axis: chart.Axis{Label: col.name, Format: tick(col.format)}}
	reference := d.row(c.Name, c.Reference)
	if reference != nil && len(reference.measured(u)) > 0 {
		out.Beside = "× " + c.Reference
	}
	best := d.best(c.Name, u, anyone)
	rows = slices.Clone(rows)
	slices.SortStableFunc(rows, func(a, b *Row) int { return cmp.Compare(a.median(u).Median, b.median(u).Median) })
	for _, row := range rows {
		e := row.median(u)
		bar := chart.Bar{Name: row.Model, Look: looks[d.kind(row.Model)], Value: value(e), Text: median(e, col.format), Best: row == best}
		if out.Beside != "" {
			bar.Note = median(row.ratio(reference, u), times)
		}
		out.Bars = append(out.Bars, bar)
	}
	least := "nothing was measured"
	if best != nil {
		least = fmt.Sprintf("the least is %s of %s", median(best.median(u), col.format), best.Model)
	}
	out.Frame = d.frame(c.Name+", "+col.name, fmt.Sprintf("Bars of %d models; %s.", len(rows), least))
	return out
}

// looks are those of kinds, as the legend has them.
var looks = map[Kind]chart.Look{Ours: chart.Strong, Peer: chart.Plain, Floor: chart.Dashed}

// A keyEntry says what a look means.
type keyEntry struct {
	SVG  template.HTML
	Text string
}

func key() []keyEntry {
	one := func(l chart.Look) template.HTML { return template.HTML(chart.Swatch(l)) }
	return []keyEntry{
		{one(chart.Strong), "stint, its name in bold"},
		{one(chart.Plain), "peers: libraries, tools, code by hand"},
		{one(chart.Dashed), "floor: what others can at best come near to"},
	}
}

// fewLevels is how many models without a number are drawn beside a curve. If
// there are more, bars show them all.
const fewLevels = 5

// sweeps draws the models of a case that differ in a number.
func (d *drawer) sweeps(c Case) chart.Curves {
	lines := map[string]*chart.Line{}
	var order, numbers []string
	var rest []*Row
	ours := 0
	for _, row := range d.in(c.Name) {
		m := d.model(row.Model)
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
		e := row.median(measure.Time)
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
	out.Levels = d.levels(c, rest, &ours)
	out.Frame = d.frame(c.Name+", time/op by "+out.X.Label, fmt.Sprintf("Curves of %s; dashes across are models without that number.", strings.Join(order, " and ")))
	return out
}

func (d *drawer) swept(model string) bool { return d.model(model).Sweep != "" }

// stem is the name that models of a sweep have in common, with an N where they
// have their number.
func stem(m Model) string {
	if s, ok := strings.CutSuffix(m.Name, fmt.Sprint(m.At)); ok && s != "" {
		return s + "N"
	}
	return m.Sweep
}

// levels are the models that are compared with a sweep: all of them if they are
// few, and if not the fastest of ours and of the peers, the reference and floors.
func (d *drawer) levels(c Case, rest []*Row, ours *int) []chart.Level {
	fastest := map[Kind]*Row{}
	for _, row := range rest {
		k := d.kind(row.Model)
		if fastest[k] == nil || row.median(measure.Time).Median < fastest[k].median(measure.Time).Median {
			fastest[k] = row
		}
	}
	var out []chart.Level
	for _, row := range rest {
		m := d.model(row.Model)
		if len(rest) > fewLevels && m.Kind != Floor && row != fastest[m.Kind] && row.Model != c.Reference {
			continue
		}
		out = append(out, chart.Level{Name: row.Model, Look: d.lineLook(m, ours), Y: value(row.median(measure.Time))})
	}
	return out
}

// lineLook is the look of the next line: ours differ from each other, as there
// are looks for them.
func (d *drawer) lineLook(m Model, ours *int) chart.Look {
	if m.Kind != Ours {
		return looks[m.Kind]
	}
	look := []chart.Look{chart.Strong, chart.Second, chart.Third}[min(*ours, 2)]
	*ours++
	return look
}

// value is an estimate to be drawn.
func value(e stats.Estimate) chart.Value {
	switch {
	case e.N == 0:
		return chart.At(math.NaN())
	case e.Interval == nil:
		return chart.At(e.Median)
	}
	return chart.Value{Mid: e.Median, Lo: e.Interval.Lo, Hi: e.Interval.Hi}
}

// tick writes round values: without the zeros at the end of their digits.
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

// count writes a number in as few letters as there are.
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
