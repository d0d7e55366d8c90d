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
)

// A family is cases whose names differ in one number only.
type family struct {
	key           string // what the number is
	before, after string // the parts of the names around it
	times         bool   // the number is a time
	cases         []Case
	at            []float64
}

// families finds the family of a case.
type families map[string]*family

func (f families) of(c Case) *family { return f[c.Name] }

// fewestPoints make a curve.
const fewestPoints = 3

// families looks for them, once. A case that could be in several is in the
// largest.
func (d *drawer) families() families {
	if d.found != nil {
		return d.found
	}
	d.found = families{}
	for _, f := range candidates(d.Cases) {
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
func candidates(cases []Case) []*family {
	var out []*family
	for _, c := range cases {
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
	slices.SortStableFunc(out, func(a, b *family) int { return cmp.Compare(len(b.cases), len(a.cases)) })
	return out
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

// curve is the figure of a family.
func (d *drawer) curve(f *family) figure {
	first := f.cases[0]
	fig := figure{Name: f.name(), Note: d.about(Case{Doc: first.Doc, Processors: first.Processors})}
	for _, c := range f.cases {
		fig.Tables = append(fig.Tables, d.sheet(c))
	}
	out := chart.Curves{X: chart.Axis{Label: f.key, Format: f.format}}
	relative := d.relative(f)
	if relative {
		out.Y = chart.Axis{Label: "time/op, × " + first.Reference, Format: tick(times)}
		out.Levels = []chart.Level{{Name: first.Reference, Look: looks[d.kind(first.Reference)], Y: chart.At(1)}}
	} else {
		out.Y = chart.Axis{Label: "time/op", Format: tick(duration)}
	}
	out.Lines = d.lines(f, relative)
	title := fmt.Sprintf("%s, %s by %s", f.name(), out.Y.Label, f.key)
	out.Frame = d.frame(title, fmt.Sprintf("Curves of %d models over %d values of %s.", len(out.Lines), len(f.at), f.key))
	if len(out.Lines) == 0 { // one model in different cases: nothing to draw but bars
		for _, c := range f.cases {
			fig.SVG = append(fig.SVG, template.HTML(d.bars(c, measure.Time, d.in(c.Name)).SVG()))
		}
		return fig
	}
	fig.SVG = []template.HTML{template.HTML(out.SVG())}
	return fig
}

// relative reports whether a family is shown as multiples of its reference.
func (d *drawer) relative(f *family) bool {
	var lo, hi float64
	for i, c := range f.cases {
		row := d.row(c.Name, c.Reference)
		if row == nil || c.Reference != f.cases[0].Reference {
			return false
		}
		m := row.median(measure.Time).Median
		if i == 0 {
			lo, hi = m, m
		}
		lo, hi = min(lo, m), max(hi, m)
	}
	return lo > 0 && hi/lo > steep
}

// lines are those of a family's models: ours first, then the peer that is the
// fastest in most cases, then the others.
func (d *drawer) lines(f *family, relative bool) []chart.Line {
	var out []chart.Line
	wins := map[string]int{}
	place := map[string]int{}
	ours := 0
	for i, c := range f.cases {
		if best := d.best(c.Name, measure.Time, peer); best != nil {
			wins[best.Model]++
		}
		reference := d.row(c.Name, c.Reference)
		for _, row := range d.in(c.Name) {
			if relative && row == reference {
				continue
			}
			at, ok := place[row.Model]
			if !ok {
				at = len(out)
				place[row.Model] = at
				out = append(out, chart.Line{Name: row.Model, Look: d.lineLook(d.model(row.Model), &ours)})
			}
			e, words := row.median(measure.Time), ""
			if relative {
				e = row.ratio(reference, measure.Time)
				words = short(e, times)
			} else {
				words = short(e, duration)
			}
			out[at].Points = append(out[at].Points, chart.Point{X: f.at[i], Y: value(e), Words: fmt.Sprintf("%s, %s=%s: %s", row.Model, f.key, f.format(f.at[i]), words)})
		}
	}
	if i := rival(out, wins); i >= 0 {
		out[i].Look = chart.Accent
	}
	slices.SortStableFunc(out, func(a, b chart.Line) int { return cmp.Compare(a.Look, b.Look) })
	return out
}

// rival is the line of the peer that is the fastest most often, or -1.
func rival(lines []chart.Line, wins map[string]int) int {
	best := -1
	for i, l := range lines {
		if wins[l.Name] > 0 && (best < 0 || wins[l.Name] > wins[lines[best].Name]) {
			best = i
		}
	}
	return best
}
