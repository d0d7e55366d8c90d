package report

import (
	"cmp"
	"fmt"
	"html/template"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/stint-go/stint/lab/chart"
	"github.com/stint-go/stint/lab/measure"
	"github.com/stint-go/stint/lab/result"
)

// A family is a set of cases whose names differ in one number.
type family struct {
	key           string // name of the number
	before, after string // parts of the names around it
	times         bool   // the number is a duration
	cases         []result.Case
	at            []float64
}

// families maps case names to families.
type families map[string]*family

func (f families) of(c result.Case) *family { return f[c.Name] }

// fewestPoints make a curve.
const fewestPoints = 3

// families finds the families, once. A case that fits several is in the
// largest.
func (d *drawer) families() families {
	if d.found != nil {
		return d.found
	}
	d.found = families{}
	for _, f := range d.candidates() {
		var free family
		for i, c := range f.cases {
			if d.found[c.Name] == nil {
				free.cases, free.at = append(free.cases, c), append(free.at, f.at[i])
			}
		}
		f.cases, f.at = free.cases, free.at
		if len(f.cases) < fewestPoints {
			continue
		}
		for _, c := range f.cases {
			d.found[c.Name] = f
		}
	}
	return d.found
}

// candidates returns all possible families, the largest first.
func (d *drawer) candidates() []*family {
	var out []*family
	for _, c := range d.Cases {
		for _, f := range parted(c.Name) {
			i := slices.IndexFunc(out, func(g *family) bool { return g.before == f.before && g.after == f.after && g.times == f.times })
			if i < 0 {
				i = len(out)
				out = append(out, &family{key: f.key, before: f.before, after: f.after, times: f.times})
			}
			if g := out[i]; !slices.Contains(g.at, f.at[0]) {
				g.cases, g.at = append(g.cases, c), append(g.at, f.at[0])
			}
		}
	}
	for _, f := range out {
		d.whole(f)
	}
	slices.SortStableFunc(out, func(a, b *family) int { return cmp.Compare(len(b.cases), len(a.cases)) })
	return out
}

// whole adds the case with all processors, whose name has no number of them, to
// a family that differs in the number of processors.
func (d *drawer) whole(f *family) {
	before, ok := strings.CutSuffix(f.before, "/procs")
	if !ok {
		return
	}
	name := before
	if f.after != "" {
		name += "/" + f.after
	}
	i := slices.IndexFunc(d.Cases, func(c result.Case) bool { return c.Name == name })
	if i < 0 {
		return
	}
	if at := float64(d.ProcessorsOf(d.Cases[i])); !slices.Contains(f.at, at) {
		f.cases, f.at = append(f.cases, d.Cases[i]), append(f.at, at)
	}
}

// parted returns a family for each number in a name.
func parted(name string) []family {
	var out []family
	parts := strings.Split(name, "/")
	for i, part := range parts {
		key, text, ok := strings.Cut(part, "=")
		if !ok {
			continue
		}
		f := family{key: key, before: strings.Join(append(slices.Clone(parts[:i]), key), "/"), after: strings.Join(parts[i+1:], "/")}
		if v, err := strconv.ParseFloat(text, 64); err == nil {
			f.at = []float64{v}
		} else if t, err := time.ParseDuration(text); err == nil {
			f.at, f.times = []float64{float64(t)}, true
		} else {
			continue
		}
		out = append(out, f)
	}
	return out
}

// name returns the common name, with the range of the number.
func (f *family) name() string {
	text := f.before + "=" + f.format(slices.Min(f.at)) + "…" + f.format(slices.Max(f.at))
	if f.after != "" {
		text += "/" + f.after
	}
	return text
}

func (f *family) format(v float64) string {
	if f.times {
		return strings.ReplaceAll(tick(duration)(v), " ", "\u00a0")
	}
	return count(v)
}

// maxLinearGrowth is the growth of a reference's times above which curves show
// multiples of it. Otherwise they would mainly show how the work grows.
const maxLinearGrowth = 10

// curved are the units with curves over cases.
var curved = []measure.Unit{measure.Time, measure.P50, measure.P99, measure.IdleCPU}

// curve returns the figure of a family: a curve per unit, or the bars of its
// cases if there is none.
func (d *drawer) curve(f *family) figure {
	fig := figure{Name: f.name(), Note: d.shared(f)}
	for _, c := range f.cases {
		fig.Tables = append(fig.Tables, d.sheet(c))
	}
	for _, u := range curved {
		if d.casesWith(f, u) < fewestPoints {
			continue
		}
		if c := d.curves(f, u); len(c.Lines) > 0 {
			d.signs.curves(c)
			fig.SVG = append(fig.SVG, template.HTML(c.SVG()))
		}
	}
	if len(fig.SVG) == 0 {
		for _, c := range f.cases {
			fig.SVG = append(fig.SVG, d.drawings(c)...)
		}
	}
	return fig
}

// casesWith returns how many cases of a family have a unit.
func (d *drawer) casesWith(f *family, u measure.Unit) int {
	n := 0
	for _, c := range f.cases {
		n += min(len(measured(d.In(c.Name), u)), 1)
	}
	return n
}

// shared describes what the cases of a family have in common.
func (d *drawer) shared(f *family) string {
	c := result.Case{Doc: f.cases[0].Doc, Processors: f.cases[0].Processors}
	for _, other := range f.cases {
		if d.ProcessorsOf(other) != d.ProcessorsOf(c) {
			c.Processors = 0
			break
		}
	}
	return about(d.Result, c)
}

// curves draws one unit of a family.
func (d *drawer) curves(f *family, u measure.Unit) chart.Curves {
	col, reference := describe(u), f.cases[0].Reference
	out := chart.Curves{X: chart.Axis{Label: f.key, Format: f.format}, Y: chart.Axis{Label: col.name, Format: tick(col.format)}}
	relative := d.relative(f, u)
	if relative {
		out.Y = chart.Axis{Label: col.name + ", × " + reference, Format: tick(times)}
		out.Levels = []chart.Level{{Name: reference, Look: looks[d.Kind(reference)], Y: chart.At(1)}}
	}
	out.Lines = d.lines(f, u, relative)
	out.Frame = d.frame(fmt.Sprintf("%s, %s by %s", f.name(), out.Y.Label, f.key), fmt.Sprintf("Curves of %d models over %d values of %s.", len(out.Lines), len(f.at), f.key))
	return out
}

// relative reports whether a family is shown as multiples of its reference.
func (d *drawer) relative(f *family, u measure.Unit) bool {
	var lo, hi float64
	for i, c := range f.cases {
		row := d.Row(c.Name, c.Reference)
		if row == nil || c.Reference != f.cases[0].Reference {
			return false
		}
		m := row.Median(u).Median
		if i == 0 {
			lo, hi = m, m
		}
		lo, hi = min(lo, m), max(hi, m)
	}
	return lo > 0 && hi/lo > maxLinearGrowth
}

// lines returns the lines of a family's models: ours first, then the peer that
// is best in most cases, then the others. Missing measurements leave gaps.
func (d *drawer) lines(f *family, u measure.Unit, relative bool) []chart.Line {
	var out []chart.Line
	wins := map[string]int{}
	index := map[string]int{}
	ours := 0
	for i, c := range f.cases {
		if best := d.Best(c.Name, u, result.Model.IsPeer); best != nil {
			wins[best.Model]++
		}
		reference := d.Row(c.Name, c.Reference)
		for _, row := range d.In(c.Name) {
			if relative && row == reference {
				continue
			}
			e, format := row.Median(u), describe(u).format
			if relative {
				e, format = row.Ratio(reference, u), times
			}
			if e.N == 0 {
				continue
			}
			at, ok := index[row.Model]
			if !ok {
				at = len(out)
				index[row.Model] = at
				out = append(out, chart.Line{Name: row.Model, Look: d.lineLook(d.Model(row.Model), &ours)})
			}
			out[at].Points = append(out[at].Points, chart.Point{X: f.at[i], Y: value(e), Words: fmt.Sprintf("%s, %s=%s: %s", row.Model, f.key, f.format(f.at[i]), short(e, format))})
		}
	}
	for i := range out {
		out[i].Points = gapped(out[i].Points, f.at)
	}
	if i := rival(out, wins); i >= 0 {
		out[i].Look = chart.Rival
	}
	slices.SortStableFunc(out, func(a, b chart.Line) int { return cmp.Compare(a.Look, b.Look) })
	return out
}

// gapped adds gaps where there is no point.
func gapped(points []chart.Point, machineLines []float64) []chart.Point {
	for _, x := range machineLines {
		if !slices.ContainsFunc(points, func(p chart.Point) bool { return p.X == x }) {
			points = append(points, chart.Point{X: x, Y: chart.At(math.NaN())})
		}
	}
	return points
}

// rival returns the line of the peer that is best most often, or -1.
func rival(lines []chart.Line, wins map[string]int) int {
	best := -1
	for i, l := range lines {
		if wins[l.Name] > 0 && (best < 0 || wins[l.Name] > wins[lines[best].Name]) {
			best = i
		}
	}
	return best
}
