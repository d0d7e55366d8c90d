package report

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/stint-go/stint/lab/claims"
	"github.com/stint-go/stint/lab/draw"
	"github.com/stint-go/stint/lab/features"
)

// panel returns the bars of a cost, ours first, the place of the best of the others, and what our first takes of that.
func (r *Report) panel(c claims.Cost) (p draw.Panel, best int, ratio claims.Figure, err error) {
	here, err := r.read(c.In, c.Filter)
	p.Title = strings.ToUpper(c.Of[:1]) + c.Of[1:]
	unit, all, best := cmp.Or(c.Unit, claims.Time), slices.Concat(c.Ours, c.Others), len(c.Ours)
	for i, b := range all {
		f := here.Median(b.Bench, true, unit)
		if f.Rounds == 0 {
			err = errors.Join(err, fmt.Errorf("%s: %s was not measured", c.Of, b.Bench))
		}
		p.Bars = append(p.Bars, draw.Bar{Name: b.Name, Text: claims.Quantity(f.Center, unit), Ours: i < len(c.Ours), Value: value(f)})
		if i > best && f.Center < p.Bars[best].Mid {
			best = i
		}
	}
	return p, best, here.Figure(claims.Pair{A: all[0].Bench, B: all[best].Bench, AAll: true, BAll: true, Unit: unit}), err
}

// Costs returns the README's table.
func (r *Report) Costs() (string, error) {
	grid := [][]string{{"", "stint", "others, **the best in bold**", "stint / the best of the others"}}
	for _, c := range claims.Costs {
		p, best, ratio, err := r.panel(c)
		if err != nil {
			return "", err
		}
		var said [2][]string // ours, others
		for i, b := range p.Bars {
			text := b.Name + " " + b.Text
			if i == best {
				text = "**" + text + "**"
			}
			side := min(i/len(c.Ours), 1)
			said[side] = append(said[side], text)
		}
		than := claims.Ratio(ratio) + " x " + p.Bars[best].Name
		grid = append(grid, []string{c.Of, strings.Join(said[0], ", "), strings.Join(said[1], ", "), than})
	}
	var w strings.Builder
	writeGrid(&w, grid)
	machine, err := r.machine()
	return w.String() + "\nMedians. " + machine + "\n", err
}

// Picture returns the README's picture, for a dark page or a light one.
func (r *Report) Picture(theme draw.Theme) (string, error) {
	var panels []draw.Panel
	for _, c := range claims.Costs {
		p, _, _, err := r.panel(c)
		if err != nil {
			return "", err
		}
		panels = append(panels, p)
	}
	machine, err := r.machine()
	note := "Medians with 95 % intervals; shorter is better. " + strings.ReplaceAll(machine, "`", "")
	return draw.Bars("costs", "stint and other ways to do the same work", note, theme, panels), err
}

// part matches what the laboratory writes in a file. Its name is costs, comparison, or none for the whole report.
var part = regexp.MustCompile(`(?s)(<!-- lab:begin ?(\w*) -->).*?<!-- lab:end -->`)

// Replace returns a file with the parts that the laboratory writes replaced.
func (r *Report) Replace(name string) (string, error) {
	parts := map[string]func() (string, error){
		"": r.Markdown, "costs": r.Costs, "comparison": func() (string, error) {
			return featureTable(func(t features.Table) features.Table { return t.Only(compared, "workerpool") })
		},
	}
	text, err := os.ReadFile(name)
	if err == nil && !part.Match(text) {
		err = errors.New("no line <!-- lab:begin -->")
	}
	return part.ReplaceAllStringFunc(string(text), func(old string) string {
		found := part.FindStringSubmatch(old)
		begin, which := found[1], found[2]
		if parts[which] == nil {
			err = cmp.Or(err, fmt.Errorf("unknown part %q", which))
			return old
		}
		made, err2 := parts[which]()
		err = cmp.Or(err, err2)
		return begin + "\n\n" + strings.TrimSpace(made) + "\n\n<!-- lab:end -->"
	}), err
}
