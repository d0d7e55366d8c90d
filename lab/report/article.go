package report

import (
	"cmp"
	"slices"
	"strings"

	"github.com/stint-go/stint/lab/measure"
	"github.com/stint-go/stint/lab/result"
)

// sourceText names an article by its title, author and site, as far as known.
func sourceText(a result.Article) string {
	s := a.Source()
	from := strings.Trim(s.Author+", "+s.Site, ", ")
	if from != "" {
		from = " (" + from + ")"
	}
	return cmp.Or(s.Title, string(a)) + from
}

// groups returns the conclusions by article, ours last, with the articles'
// tables. Articles without any are left out.
func groups(results []*result.Result) []group {
	var out []group
	all := result.Conclusions(results)
	for _, a := range append(result.Articles(), "") {
		g := group{ID: "article-" + string(a), Title: sourceText(a), Tables: tables(results, a)}
		if a == "" {
			g = group{ID: "ours", Title: "Our conclusions"}
		}
		for _, c := range all {
			if c.Article == a {
				g.Conclusions = append(g.Conclusions, conclusion{c})
			}
		}
		if len(g.Conclusions)+len(g.Tables) > 0 {
			out = append(out, g)
		}
	}
	return out
}

// tables returns the tables of an article: a row a model, a column a case, and
// the article's figures.
func tables(results []*result.Result, a result.Article) []Grid {
	var out []Grid
	for _, r := range results {
		mine := slices.DeleteFunc(slices.Clone(r.Cases), func(c result.Case) bool {
			return a == "" || c.Article != a || len(c.Figures) == 0 && !c.Main
		})
		for _, t := range groupBy(mine, func(c result.Case) string { return c.Table }) {
			out = append(out, articleGrid(r, t.key, t.items))
		}
	}
	return out
}

// articleGrid returns one table: the models with a figure of the article, or all if it has
// none, and our fastest in each case.
func articleGrid(r *result.Result, name string, cases []result.Case) Grid {
	g := Grid{Name: r.Experiment + ": " + cmp.Or(name, cases[0].Name), Head: []string{"model"}}
	told := slices.ContainsFunc(cases, func(c result.Case) bool { return len(c.Figures) > 0 })
	var wanted, found []string
	for _, c := range cases {
		g.Head = append(g.Head, c.Name)
		wanted = append(wanted, each(c.Figures, func(f result.Figure) string { return f.Model })...)
		if !told {
			wanted = append(wanted, each(r.In(c.Name), func(row *result.Row) string { return row.Model })...)
		}
		if ours := r.Best(c.Name, measure.Time, func(m result.Model) bool { return m.Kind == result.Ours }); ours != nil {
			wanted = append(wanted, ours.Model)
		}
		found = append(found, each(r.In(c.Name), func(row *result.Row) string { return row.Model })...)
	}
	g.Head = append(g.Head, "the article")
	for _, model := range unique(append(found, wanted...)) {
		if !slices.Contains(wanted, model) {
			continue
		}
		line := []string{model}
		for _, c := range cases {
			line = append(line, articleCell(r.Row(c.Name, model), cases))
		}
		g.Rows = append(g.Rows, append(line, authors(cases, model)))
	}
	return g
}

// words name units in figures of articles.
var words = map[measure.Unit][]string{
	measure.Bytes: {"KB", "MB", "bytes"}, measure.Allocs: {"alloc"}, measure.PeakMemory: {"peak"},
	measure.P50: {"p50"}, measure.P99: {"p99"}, measure.P999: {"p99.9"},
}

// articleCell returns the time of a row, or its first unit if it has none, and
// the other units that figures of the cases name. Of jobs that arrive, which have no
// figures, it returns the response times and how many are refused.
func articleCell(row *result.Row, cases []result.Case) string {
	told := slices.ContainsFunc(cases, func(c result.Case) bool { return len(c.Figures) > 0 })
	latency := !told && row.Median(measure.P50).N > 0
	named := func(u measure.Unit) bool {
		switch {
		case latency:
			return u == measure.P50 || u == measure.P99 || u == measure.Refused || u == measure.PeakMemory
		case !told:
			return u == measure.Bytes
		}
		return slices.ContainsFunc(cases, func(c result.Case) bool {
			return slices.ContainsFunc(c.Figures, func(f result.Figure) bool {
				return slices.ContainsFunc(words[u], func(w string) bool { return strings.Contains(f.Text, w) })
			})
		})
	}
	var out []string
	for _, col := range measured([]*result.Row{row}) {
		e := row.Median(col.unit)
		switch {
		case len(out) == 0 && !latency:
			out = append(out, short(e, col.format))
		case named(col.unit):
			out = append(out, strings.TrimSuffix(col.format(e.Median)+" "+strings.TrimSuffix(col.name, "/op"), " bytes"))
		}
	}
	return strings.Join(out, ", ")
}
