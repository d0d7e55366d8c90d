package report

import (
	"cmp"
	"fmt"
	"html"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/stint-go/stint/lab/claims"
	"github.com/stint-go/stint/lab/draw"
)

// swept is the part of a name that a curve is over.
var swept = regexp.MustCompile(`/[^/=]+=\*`)

// curve writes a curve: its drawing on a page, and its values as a table.
func (r *Report) curve(w *strings.Builder, a claims.Article, c claims.Curve, id string) error {
	here, err := r.read(cmp.Or(c.In, a.In), cmp.Or(c.Filter, a.Filter))
	if err != nil {
		return err
	}
	unit := cmp.Or(c.Unit, claims.Time)
	v := draw.Curves{ID: id, Title: c.Title, XLabel: c.X, YLabel: unit, X: number, Y: func(y float64) string { return claims.Quantity(y, unit) }}
	grid := [][]string{{c.Title + ", by " + c.X}}
	at := map[float64]int{} // columns
	for _, pattern := range c.Lines {
		l := draw.Line{Name: a.Word(swept.ReplaceAllString(pattern, "")), Points: points(here, pattern, unit)}
		if len(l.Points) == 0 {
			continue
		}
		v.Lines = append(v.Lines, l)
		for _, p := range l.Points {
			at[p.X] = 0
		}
	}
	for i, x := range slices.Sorted(maps.Keys(at)) {
		at[x] = i + 1
		grid[0] = append(grid[0], number(x))
	}
	for _, l := range v.Lines {
		row := make([]string, len(grid[0]))
		row[0] = l.Name
		for _, p := range l.Points {
			row[at[p.X]] = claims.Quantity(p.Mid, unit)
		}
		grid = append(grid, row)
	}
	if !r.page || len(v.Lines) == 0 {
		writeGrid(w, grid)
		return nil
	}
	fmt.Fprintf(w, "\n<figure>\n<figcaption>%s</figcaption>\n%s", html.EscapeString(c.Title), v.SVG(draw.Page))
	writeGrid(w, grid)
	w.WriteString("\n</figure>\n")
	return nil
}

// points returns the values of the benchmarks whose names match a pattern with * for a number.
func points(r claims.Results, pattern, unit string) (out []draw.Point) {
	before, after, _ := strings.Cut(pattern, "*")
	for _, name := range r.Names(pattern) {
		x, err := strconv.ParseFloat(strings.TrimSuffix(strings.TrimPrefix(name, before), after), 64)
		f := r.Median(name, true, unit)
		if err == nil && f.Rounds > 0 {
			out = append(out, draw.Point{X: x, Value: value(f)})
		}
	}
	slices.SortFunc(out, func(a, b draw.Point) int { return cmp.Compare(a.X, b.X) })
	return out
}

// value returns a figure as it is drawn.
func value(f claims.Figure) draw.Value {
	if f.Rounds < 6 {
		return draw.Value{Mid: f.Center, Lo: f.Center, Hi: f.Center}
	}
	return draw.Value{Mid: f.Center, Lo: f.Lo, Hi: f.Hi}
}

func number(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }
