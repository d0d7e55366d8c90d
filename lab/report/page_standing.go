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

// A contest is our fastest model of a case beside the fastest peer, or where
// there is no peer, beside the floor.
type contest struct {
	Case        result.Case
	Ours, Other *result.Row
	Floor       bool
	Ratio       stats.Estimate // of the times, ours over the other's
}

// contests are those of all cases that have both.
func contests(r *result.Result) []contest {
	var out []contest
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
			out = append(out, contest{c, ours, other, floor, ratio})
		}
	}
	return out
}

// result is 1 if ours is faster, -1 if the other is, and 0 if the interval has
// room for both.
func (c contest) result() int {
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

// word says what came out. That two are not told apart does not say that they are
// equal.
func (c contest) word() string {
	switch {
	case c.Floor:
		return "beside a floor"
	case c.Ratio.Interval == nil:
		return "too few runs to tell"
	}
	return map[int]string{1: "ours is faster", 0: "not told apart", -1: "ours is slower"}[c.result()]
}

// text is one contest in words.
func (c contest) text() string {
	return fmt.Sprintf("%s: %s takes %s times as long as %s: %s", c.Case.Name, c.Ours.Model, short(c.Ratio, times), c.Other.Model, c.word())
}

// look tells the results of contests apart; those with a floor have a look of
// their own, since nobody wins them.
func (c contest) look() chart.Look {
	if c.Floor {
		return chart.Dashed
	}
	return map[int]chart.Look{1: chart.Strong, 0: chart.Plain, -1: chart.Accent}[c.result()]
}

// A standing shows all contests of an experiment.
type standing struct {
	Faster, Slower, Floors int
	Open, Few              int      // not told apart: the interval holds 1, or there is none
	Timeless               int      // cases in which no time was measured
	Lines                  []string // instead of a drawing, of very few
	figure
}

// Peers is in how many cases there is a peer.
func (o standing) Peers() int { return o.Faster + o.Slower + o.Untold() }

// Untold is in how many cases ours and the peer are not told apart.
func (o standing) Untold() int { return o.Open + o.Few }

// panelRows is how many rows a panel of an overview has at most, and wideRows
// how many are put into two.
const (
	panelRows = 26
	wideRows  = 9
)

func (d *drawer) standing() standing {
	all := contests(d.Result)
	o := standing{figure: figure{Name: "Our fastest model beside the fastest peer"}}
	for _, c := range all {
		switch {
		case c.Floor:
			o.Floors++
		case c.result() > 0:
			o.Faster++
		case c.result() < 0:
			o.Slower++
		case c.Ratio.Interval == nil:
			o.Few++
		default:
			o.Open++
		}
	}
	for _, c := range d.Cases {
		if rows := d.In(c.Name); len(rows) > 0 && len(having(rows, measure.Time)) == 0 {
			o.Timeless++
		}
	}
	rows := d.dotRows(all)
	if len(rows) < 2 {
		o.Lines = each(all, contest.text)
		return o
	}
	o.SVG = d.dots(rows)
	o.Tables = []sheet{contestTable(all)}
	return o
}

// dots draws rows in as many drawings as they need, all to the same scale.
func (d *drawer) dots(rows []chart.DotRow) []template.HTML {
	least, most := ends(rows)
	var out []template.HTML
	for _, part := range panels(rows) {
		out = append(out, template.HTML(chart.Dots{
			Frame: d.frame("Time of our fastest model over that of the fastest peer", fmt.Sprintf("%d rows, from %s to %s; left of the line at 1 ours is faster.", len(part), part[0].Name, part[len(part)-1].Name)),
			Axis:  chart.Axis{Label: "time, ours / fastest peer", Format: tick(times)},
			Below: "ours is faster", Above: "slower",
			Least: least, Most: most, Rows: part,
		}.SVG()))
	}
	return out
}

// panels cuts rows into drawings that are about as long as each other.
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

// farthest is the ratio at which the scale of an overview ends: the greatest ones
// would leave no room to tell those near one apart.
const farthest = 4.0

// ends are those of a scale that all panels have: it holds the intervals, up to
// the farthest ratio.
func ends(rows []chart.DotRow) (least, most float64) {
	least, most = 1, 1
	for _, row := range rows {
		for _, dot := range row.Dots {
			least, most = min(least, dot.Value.Lo), max(most, dot.Value.Hi)
		}
	}
	return max(least, 1/farthest), min(most, farthest)
}

// dotRows is a row for each family of cases, and for each other case.
func (d *drawer) dotRows(all []contest) []chart.DotRow {
	families := d.families()
	var rows []chart.DotRow
	place := map[string]int{}
	for _, c := range all {
		name := c.Case.Name
		if f := families.of(c.Case); f != nil {
			name = f.name()
		}
		i, ok := place[name]
		if !ok {
			i = len(rows)
			place[name] = i
			rows = append(rows, chart.DotRow{Name: name})
		}
		rows[i].Dots = append(rows[i].Dots, c.dot())
	}
	for i := range rows {
		rows[i].Text = reach(rows[i].Dots)
	}
	return titled(rows)
}

// sameStart is how many rows begin with the same two parts of a name before these
// become a title.
const sameStart = 6

// titled puts rows whose names begin alike together and takes the beginning out
// of the names, where there are many rows.
func titled(rows []chart.DotRow) []chart.DotRow {
	if len(rows) <= wideRows {
		return rows
	}
	two := map[string]int{}
	for _, row := range rows {
		two[beginning(row.Name, 2)]++
	}
	var out []chart.DotRow
	for _, b := range bunches(rows, func(row chart.DotRow) string {
		if start := beginning(row.Name, 2); two[start] >= sameStart {
			return start
		}
		return beginning(row.Name, 1)
	}) {
		bare := func(row chart.DotRow) bool { return row.Name == b.key }
		if len(b.of) > 1 && !slices.ContainsFunc(b.of, bare) {
			for i := range b.of {
				b.of[i].Title, b.of[i].Name = b.key, strings.TrimPrefix(b.of[i].Name, b.key+"/")
			}
		}
		out = append(out, b.of...)
	}
	return out
}

// beginning is the first n parts of a name.
func beginning(name string, n int) string {
	parts := strings.SplitN(name, "/", n+1)
	return strings.Join(parts[:min(n, len(parts))], "/")
}

func (c contest) dot() chart.Dot {
	return chart.Dot{
		Look:  c.look(),
		Value: value(c.Ratio),
		Words: c.text(),
	}
}

// reach is the value of a dot, or from the smallest to the largest. Where some are
// beside a peer, those beside a floor are left out.
func reach(dots []chart.Dot) string {
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
	return rough(lo) + "–" + rough(hi)
}

// rough writes a ratio with two digits.
func rough(v float64) string {
	if v < 9.95 {
		return fmt.Sprintf("%.2f", v)
	}
	return fmt.Sprintf("%.0f", v)
}

func contestTable(all []contest) sheet {
	t := sheet{Name: "Our fastest model beside the fastest peer, or where there is none, the floor", grid: grid{head: []string{"case", "ours", "other", "time, ours / other", "interval of the ratio", "result"}}}
	for _, c := range all {
		other := c.Other.Model
		if c.Floor {
			other += " (floor)"
		}
		t.rows = append(t.rows, []string{c.Case.Name, c.Ours.Model, other, times(c.Ratio.Median), span(c.Ratio, times), c.word()})
	}
	return t
}
