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

// A family is cases whose names differ in one number only.
type family struct {
	key           string // what the number is
	before, after string // the parts of the names around it
	times         bool   // the number is a time
	cases         []result.Case
	at            []float64
}

// families finds the family of a case.
type families map[string]*family

func (f families) of(c result.Case) *family { return f[c.Name] }

// fewestPoints make a curve.
const fewestPoints = 3

// families looks for them, once. A case that could be in several is in the
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

// candidates are all families that there could be, the largest first.
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

// whole adds to cases that differ in how many processors they had the one with all
// of them, whose name does not say so.
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

// parted takes each number of a name out of it.
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

// name is that of its cases, with all that the number is.
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

// steep is the ratio of the largest to the smallest time of a reference above
// which a curve shows the times of the others as multiples of it. Otherwise it
// would show little but how the work grows.
const steep = 10

// curved are the units of which there are curves over cases.
var curved = []measure.Unit{measure.Time, measure.HalfWithin, measure.MostWithin, measure.IdleCPU}

// curve is the figure of a family: a curve of each unit, or where there is nothing
// to draw but bars, those of its cases.
func (d *drawer) curve(f *family) figure {
	fig := figure{Name: f.name(), Note: d.shared(f)}
	for _, c := range f.cases {
		fig.Tables = append(fig.Tables, d.sheet(c))
	}
	for _, u := range curved {
		if d.over(f, u) < fewestPoints {
			continue
		}
		if c := d.curves(f, u); len(c.Lines) > 0 {
			d.seen.curves(c)
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

// over is in how many cases of a family a unit was measured.
func (d *drawer) over(f *family, u measure.Unit) int {
	n := 0
	for _, c := range f.cases {
		n += min(len(having(d.In(c.Name), u)), 1)
	}
	return n
}

// shared is what is the same of all cases of a family.
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
	return lo > 0 && hi/lo > steep
}

// lines are those of a family's models: ours first, then the peer that is the
// least in most cases, then the others. Where a model was not measured, its line
// has a gap.
func (d *drawer) lines(f *family, u measure.Unit, relative bool) []chart.Line {
	var out []chart.Line
	wins := map[string]int{}
	place := map[string]int{}
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
			at, ok := place[row.Model]
			if !ok {
				at = len(out)
				place[row.Model] = at
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

// gapped adds a gap at each place where there is no point.
func gapped(points []chart.Point, places []float64) []chart.Point {
	for _, x := range places {
		if !slices.ContainsFunc(points, func(p chart.Point) bool { return p.X == x }) {
			points = append(points, chart.Point{X: x, Y: chart.At(math.NaN())})
		}
	}
	return points
}

// rival is the line of the peer that is the least most often, or -1.
func rival(lines []chart.Line, wins map[string]int) int {
	best := -1
	for i, l := range lines {
		if wins[l.Name] > 0 && (best < 0 || wins[l.Name] > wins[lines[best].Name]) {
			best = i
		}
	}
	return best
}
