package report

import (
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

// A pairing compares our fastest model of a case with the fastest peer, or with
// the floor if there is no peer.
type pairing struct {
	Case        result.Case
	Ours, Other *result.Row
	Floor       bool
	Ratio       stats.Estimate // of the times, ours to the other's
}

// newPairings returns the pairings of all cases.
func newPairings(r *result.Result) []pairing {
	var out []pairing
	for _, c := range r.Cases {
		ours := r.Best(c.Name, measure.Time, func(m result.Model) bool { return m.Kind == result.Ours })
		other := r.Best(c.Name, measure.Time, result.Model.IsPeer)
		floor := other == nil
		if floor {
			other = r.Best(c.Name, measure.Time, func(m result.Model) bool { return m.Kind == result.Floor })
		}
		if ours == nil || other == nil {
			continue
		}
		if ratio := ours.Ratio(other, measure.Time); ratio.N > 0 {
			out = append(out, pairing{c, ours, other, floor, ratio})
		}
	}
	return out
}

// result is 1 if ours is faster, -1 if the other is, and 0 if the interval
// contains 1.
func (c pairing) result() int {
	switch in := c.Ratio.Interval; {
	case in == nil:
		return 0
	case in.Hi < 1:
		return 1
	case in.Lo > 1:
		return -1
	}
	return 0
}

// word returns the result in words. Undecided does not mean equal.
func (c pairing) word() string {
	switch {
	case c.Floor:
		return "compared with a floor"
	case c.Ratio.Interval == nil:
		return "too few runs to decide"
	}
	return map[int]string{1: "ours is faster", 0: "undecided", -1: "ours is slower"}[c.result()]
}

// text describes a pairing.
func (c pairing) text() string {
	return fmt.Sprintf("%s: %s takes %s times as long as %s: %s", c.Case.Name, c.Ours.Model, short(c.Ratio, times), c.Other.Model, c.word())
}

// look distinguishes results. Floors have a look of their own, since they
// cannot be beaten.
func (c pairing) look() chart.Look {
	if c.Floor {
		return chart.Dashed
	}
	return map[int]chart.Look{1: chart.Strong, 0: chart.Plain, -1: chart.Accent}[c.result()]
}

// pairings summarize an experiment.
type pairings struct {
	Faster, Slower, Floors int
	Open, TooFew           int      // undecided: the interval contains 1, or there is none
	Timeless               int      // cases without a time
	Lines                  []string // instead of a drawing, if there are few
	figure
}

// Peers returns the number of cases with a peer.
func (o pairings) Peers() int { return o.Faster + o.Slower + o.Undecided() }

// Undecided returns the number of undecided cases.
func (o pairings) Undecided() int { return o.Open + o.TooFew }

// panelRows is the most rows of a panel, and wideRows the most rows of a single
// panel.
const (
	panelRows = 26
	wideRows  = 9
)

func (d *drawer) pairings() pairings {
	all := newPairings(d.Result)
	o := pairings{figure: figure{Name: "Our fastest model compared with the fastest peer"}}
	for _, c := range all {
		switch {
		case c.Floor:
			o.Floors++
		case c.result() > 0:
			o.Faster++
		case c.result() < 0:
			o.Slower++
		case c.Ratio.Interval == nil:
			o.TooFew++
		default:
			o.Open++
		}
	}
	for _, c := range d.Cases {
		if rows := d.In(c.Name); len(rows) > 0 && len(measured(rows, measure.Time)) == 0 {
			o.Timeless++
		}
	}
	rows := d.dotRows(all)
	if len(rows) < 2 {
		o.Lines = each(all, pairing.text)
		return o
	}
	o.SVG = d.dots(rows)
	o.Tables = []sheet{pairingTable(all)}
	return o
}

// dots draws rows in panels of the same scale.
func (d *drawer) dots(rows []chart.DotRow) []template.HTML {
	smallest, most := ends(rows)
	var out []template.HTML
	for _, part := range panels(rows) {
		out = append(out, template.HTML(chart.Dots{
			Frame: d.frame("Time of our fastest model relative to the fastest peer", fmt.Sprintf("%d rows, from %s to %s; left of the line at 1 ours is faster.", len(part), part[0].Name, part[len(part)-1].Name)),
			Axis:  chart.Axis{Label: "time, ours / fastest peer", Format: tick(times)},
			Below: "ours is faster", Above: "slower",
			Least: smallest, Most: most, Rows: part,
		}.SVG()))
	}
	return out
}

// panels splits rows into panels of similar length.
func panels(rows []chart.DotRow) [][]chart.DotRow {
	n := (len(rows) + panelRows - 1) / panelRows
	if len(rows) > wideRows {
		n += n % 2
	}
	var out [][]chart.DotRow
	for i := range n {
		out = append(out, rows[i*len(rows)/n:(i+1)*len(rows)/n])
	}
	return out
}

// maxRatio ends the scale: larger ratios would leave no room for those near 1.
const maxRatio = 4.0

// ends returns the ends of the common scale: all intervals, up to maxRatio.
func ends(rows []chart.DotRow) (smallest, most float64) {
	smallest, most = 1, 1
	for _, row := range rows {
		for _, dot := range row.Dots {
			smallest, most = min(smallest, dot.Value.Lo), max(most, dot.Value.Hi)
		}
	}
	return max(smallest, 1/maxRatio), min(most, maxRatio)
}

// dotRows returns a row for each family and for each other case.
func (d *drawer) dotRows(all []pairing) []chart.DotRow {
	families := d.families()
	var rows []chart.DotRow
	index := map[string]int{}
	for _, c := range all {
		name := c.Case.Name
		if f := families.of(c.Case); f != nil {
			name = f.name()
		}
		i, ok := index[name]
		if !ok {
			i = len(rows)
			index[name] = i
			rows = append(rows, chart.DotRow{Name: name})
		}
		rows[i].Dots = append(rows[i].Dots, c.dot())
	}
	for i := range rows {
		rows[i].Text = rangeText(rows[i].Dots)
	}
	return titled(rows)
}

// minTitled is how many rows must share the first two parts of their names for
// these to become a title.
const minTitled = 6

// titled groups rows whose names start alike, and moves the start into a title,
// if there are many rows.
func titled(rows []chart.DotRow) []chart.DotRow {
	if len(rows) <= wideRows {
		return rows
	}
	two := map[string]int{}
	for _, row := range rows {
		two[beginning(row.Name, 2)]++
	}
	var out []chart.DotRow
	for _, b := range groupBy(rows, func(row chart.DotRow) string {
		if start := beginning(row.Name, 2); two[start] >= minTitled {
			return start
		}
		return beginning(row.Name, 1)
	}) {
		bare := func(row chart.DotRow) bool { return row.Name == b.key }
		if len(b.items) > 1 && !slices.ContainsFunc(b.items, bare) {
			for i := range b.items {
				b.items[i].Title, b.items[i].Name = b.key, strings.TrimPrefix(b.items[i].Name, b.key+"/")
			}
		}
		out = append(out, b.items...)
	}
	return out
}

// beginning returns the first n parts of a name.
func beginning(name string, n int) string {
	parts := strings.SplitN(name, "/", n+1)
	return strings.Join(parts[:min(n, len(parts))], "/")
}

func (c pairing) dot() chart.Dot {
	return chart.Dot{
		Look:  c.look(),
		Value: value(c.Ratio),
		Words: c.text(),
	}
}

// rangeText returns the range of the dots' values, without floors if there are
// peers.
func rangeText(dots []chart.Dot) string {
	peers := slices.DeleteFunc(slices.Clone(dots), func(dot chart.Dot) bool { return dot.Look == chart.Dashed })
	if len(peers) > 0 {
		dots = peers
	}
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, dot := range dots {
		lo, hi = min(lo, dot.Value.Mid), max(hi, dot.Value.Mid)
	}
	if len(dots) == 1 {
		return times(lo)
	}
	return twoDigits(lo) + "–" + twoDigits(hi)
}

// twoDigits formats a ratio with two digits.
func twoDigits(v float64) string {
	if v < 9.95 {
		return fmt.Sprintf("%.2f", v)
	}
	return fmt.Sprintf("%.0f", v)
}

func pairingTable(all []pairing) sheet {
	t := sheet{Name: "Our fastest model compared with the fastest peer, or with the floor if there is none", grid: grid{head: []string{"case", "ours", "other", "time, ours / other", "interval of the ratio", "result"}}}
	for _, c := range all {
		other := c.Other.Model
		if c.Floor {
			other += " (floor)"
		}
		t.rows = append(t.rows, []string{c.Case.Name, c.Ours.Model, other, times(c.Ratio.Median), bounds(c.Ratio, times), c.word()})
	}
	return t
}
