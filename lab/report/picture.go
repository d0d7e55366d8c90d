package report

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/stint-go/stint/lab/chart"
	"github.com/stint-go/stint/lab/result"
)

// Picture writes the pictured costs as bars into NAME-light.svg and
// NAME-dark.svg, and returns the names of the files. It returns an error that
// names the rows that were not measured.
func Picture(name string, results []*result.Result, costs []Cost) ([]string, error) {
	p := chart.Picture{Frame: chart.Frame{ID: "costs", Title: "stint and other ways to do the same work"}}
	var missing []error
	var machines []string
	for _, c := range costs {
		if len(c.Pictured) == 0 {
			continue
		}
		r := named(results, c.Experiment)
		machines = append(machines, r.Machine.Name())
		panel, err := c.panel(r)
		p.Panels, missing = append(p.Panels, panel), append(missing, err)
		p.Desc += panel.Title + ": " + strings.Join(each(panel.Bars, func(b chart.Bar) string { return b.Name + " " + b.Text }), ", ") + ". "
	}
	if err := errors.Join(missing...); err != nil {
		return nil, err
	}
	p.Note = "Medians with 95 % intervals; shorter is better. On " + strings.Join(unique(machines), " and ") + "."
	var written []string
	for _, scheme := range []string{"light", "dark"} {
		file := name + "-" + scheme + ".svg"
		if err := os.WriteFile(file, []byte(p.SVG(scheme == "dark")), 0o666); err != nil {
			return written, err
		}
		written = append(written, file)
	}
	return written, nil
}

// panel returns the bars of the pictured models. Below them it names the peers
// with a smaller median that are not pictured. The error names the models that
// were not measured.
func (c Cost) panel(r *result.Result) (chart.Panel, error) {
	title, note, _ := strings.Cut(strings.ReplaceAll(c.Of, "`", ""), "; ")
	panel := chart.Panel{Title: strings.ToUpper(title[:1]) + title[1:]}
	if note != "" {
		panel.Notes = append(panel.Notes, note)
	}
	col := describe(c.Unit)
	bar := func(model string) chart.Bar {
		e := r.Row(c.Case, model).Median(c.Unit)
		b := chart.Bar{Name: model, Look: looks[r.Kind(model)], Value: value(e), Text: col.format(e.Median)}
		if r.Model(model).Unbounded {
			b.Name += ", no limit"
		}
		return b
	}
	var missing []error
	for _, model := range c.Pictured {
		if r.Row(c.Case, model).Median(c.Unit).N == 0 {
			missing = append(missing, fmt.Errorf("%s %s: no %s of %s", c.Experiment, c.Case, col.name, model))
		}
		panel.Bars = append(panel.Bars, bar(model))
	}
	var less []string
	for _, row := range r.In(c.Case) {
		e := row.Median(c.Unit)
		if r.Model(row.Model).IsPeer() && e.N > 0 && e.Median < panel.Bars[0].Value.Mid && !slices.Contains(c.Pictured, row.Model) {
			less = append(less, bar(row.Model).Name+" "+col.format(e.Median))
		}
	}
	if len(less) > 0 {
		panel.Notes = append(panel.Notes, "Not shown, and smaller: "+strings.Join(less, ", "))
	}
	return panel, errors.Join(missing...)
}
