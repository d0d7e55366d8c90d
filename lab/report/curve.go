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
	"golang.org/x/perf/benchmath"
)

// swept is the part of a name that a curve is over.
var swept = regexp.MustCompile(`/[^/=]+=\*`)

// curve returns the values of a curve as a table and, on a page, its drawing above.
func (r *Report) curve(a claims.Article, c claims.Curve) string {
	here, unit := r.read(a, c.In, c.Filter), cmp.Or(c.Unit, claims.Time)
	format := func(y float64) string { return claims.Quantity(y, unit) }
	var curves []draw.Curve
	columns := map[float64]bool{}
	for _, pattern := range c.Lines {
		l := draw.Curve{Name: a.Word(swept.ReplaceAllString(pattern, "")), Points: map[float64]benchmath.Summary{}}
		before, after, _ := strings.Cut(pattern, "*")
		for _, name := range here.Names(pattern) {
			x, err := strconv.ParseFloat(strings.TrimSuffix(strings.TrimPrefix(name, before), after), 64)
			if f := here.Median(name, true, unit); err == nil && f.Rounds > 0 {
				l.Points[x], columns[x] = value(f), true
			}
		}
		if len(l.Points) > 0 {
			curves = append(curves, l)
		}
	}
	g := grid{{c.Title + ", by " + c.X}}
	for _, l := range curves {
		g = append(g, []string{l.Name})
	}
	for _, x := range slices.Sorted(maps.Keys(columns)) {
		g[0] = append(g[0], fmt.Sprint(x))
		for i, l := range curves {
			cell := ""
			if v, ok := l.Points[x]; ok {
				cell = format(v.Center)
			}
			g[i+1] = append(g[i+1], cell)
		}
	}
	if !r.page || len(curves) == 0 {
		return g.String()
	}
	drawing := draw.Curves(slug(c.Title), c.Title, c.X, unit, format, curves)
	return fmt.Sprintf("\n<figure>\n<figcaption>%s</figcaption>\n%s%s\n</figure>\n", html.EscapeString(c.Title), drawing, g)
}

// value returns a figure as it is drawn: without an interval if there is none.
func value(f claims.Figure) benchmath.Summary {
	if f.Rounds < 6 {
		f.Lo, f.Hi = f.Center, f.Center
	}
	return f.Summary
}
