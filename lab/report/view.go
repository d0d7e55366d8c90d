package report

import (
	_ "embed" // for the templates and the rules of the page
	htmltemplate "html/template"
	"io"
	"slices"
	"strings"
	"text/template"

	"github.com/stint-go/stint/lab/chart"
	"github.com/stint-go/stint/lab/features"
	"github.com/stint-go/stint/lab/measure"
	"github.com/stint-go/stint/lab/result"
)

//go:embed page.html
var pageText string

//go:embed page.css
var pageStyle string

//go:embed text.tmpl
var markdownText string

// A view is the data of the templates.
type view struct {
	Style    htmltemplate.CSS
	Dir      string // of the results, if it is to be named
	Runs     []run
	Groups   []group
	Chapters []*chapter
	Features features.Table
	Legend   []string
}

// A run names the experiments that were measured on one machine at one commit.
type run struct {
	Experiments, Machine, Commit string
	Commands                     []string
}

// A group holds the conclusions of an article, or ours, and the tables with the
// article's figures.
type group struct {
	ID, Title   string
	Conclusions []conclusion
	Tables      []Grid
}

// A conclusion is a sentence with the verdicts of its claims.
type conclusion struct{ result.Conclusion }

func (c conclusion) Answers() result.Answers { return result.AnswersOf(c.Verdicts) }
func (c conclusion) Answer() string          { return answerText(c.Answers()) }
func (c conclusion) Why() string             { return why(c.Verdicts) }
func (c conclusion) Claims() Grid            { return claims(c.Verdicts) }

// A chapter is one experiment.
type chapter struct {
	*result.Result
	ID                        string
	Answers                   result.Answers
	Claims                    Grid
	Sources                   []string
	Faster, Slower, Undecided int        // cases, by our fastest model and the fastest peer
	Lost                      [][]string // a case whose fastest peer is certainly faster than all rows of ours, the peer, and these rows
	Figures                   []figure
	Tables                    []Grid
}

// writePage writes results and the feature table as one self-contained page
// without scripts.
func writePage(w io.Writer, results []*result.Result, table features.Table) error {
	t, err := htmltemplate.New("page").Funcs(htmltemplate.FuncMap{"sign": sign, "number": isNumber, "answer": lower}).Parse(pageText)
	if err != nil {
		return err
	}
	v := newView(results, table)
	v.Style = htmltemplate.CSS(chart.Style + pageStyle)
	for _, c := range v.Chapters {
		c.draw()
	}
	return t.Execute(w, v)
}

// Table writes r for the terminal: the machine, a table per case with a star at
// its fastest model, the verdicts, the rows with a faster peer, and the
// warnings.
func Table(w io.Writer, r *result.Result) error {
	return writeText(w, "terminal", []*result.Result{r}, features.Table{}, "")
}

// writeText writes one of the templates of text.tmpl. Links start at the root of
// the repository if a directory of results is named, and at its address otherwise.
func writeText(w io.Writer, name string, results []*result.Result, table features.Table, dir string) error {
	root := ""
	if dir == "" {
		root = "https://github.com/stint-go/stint/blob/main/"
	}
	v := newView(results, table)
	v.Dir = dir
	t, err := template.New(name).Funcs(template.FuncMap{
		"root": func() string { return root }, "cell": func(s string) string { return strings.ReplaceAll(s, "|", `\|`) },
		"join": strings.Join, "lower": lower,
		"pipes": Grid.pipes, "columns": Grid.columns, "table": newGrid, "loss": lossText, "sign": sign, "claim": fullText,
	}).Parse(markdownText)
	if err != nil {
		return err
	}
	return t.ExecuteTemplate(w, name, v)
}

// legend explains the signs in tables and verdicts.
var legend = []string{
	"best row: the smallest median of a case, except floors; a floor is a lower bound, not an alternative",
	"yes: the whole interval meets the bar of the claim; no: no part of it does; not sure: the bar is inside the interval, or there is no interval",
}

// Summary writes a summary of the results in dir: the conclusions by article
// with the articles' figures, our conclusions, the cases with a faster peer,
// and the feature table.
func Summary(w io.Writer, results []*result.Result, t features.Table, dir string) error {
	return writeText(w, "summary", results, t, dir)
}

// Features writes a feature table, with links as those of Summary.
func Features(w io.Writer, t features.Table, dir string) error {
	return writeText(w, "table", nil, t, dir)
}

// isNumber reports whether a cell is a number with its unit, to be aligned.
func isNumber(cell string) bool {
	return cell != "" && cell[0] >= '0' && cell[0] <= '9' && !strings.ContainsAny(cell, "[,;")
}

func newView(results []*result.Result, table features.Table) *view {
	v := &view{Features: table, Groups: groups(results), Chapters: each(results, newChapter), Legend: legend}
	for _, g := range groupBy(results, func(r *result.Result) string { return r.Machine.Name() + r.Commit }) {
		names := each(g.items, func(r *result.Result) string {
			if r.Unfinished != "" {
				return r.Experiment + " (it ended early: cases and samples are missing)"
			}
			return r.Experiment
		})
		commands := unique(each(g.items, func(r *result.Result) string { return r.Command }))
		v.Runs = append(v.Runs, run{strings.Join(names, ", "), g.items[0].Machine.Name(), g.items[0].Commit, commands})
	}
	return v
}

func newChapter(r *result.Result) *chapter {
	c := &chapter{Result: r, ID: "experiment-" + r.Experiment, Answers: result.AnswersOf(r.Verdicts), Claims: claims(r.Verdicts)}
	lost := c.compare()
	sure := slices.DeleteFunc(r.Losses(), func(l result.Loss) bool { return !l.Sure() })
	for _, g := range groupBy(sure, func(l result.Loss) string { return l.Case }) {
		if !slices.Contains(lost, g.key) {
			continue
		}
		ours := each(g.items, func(l result.Loss) string { return l.Model + " " + short(l.Ratio, times) })
		c.Lost = append(c.Lost, []string{g.key, g.items[0].Peer, strings.Join(ours, ", ")})
	}
	repeated := slices.DeleteFunc(slices.Clone(r.Cases), func(c result.Case) bool { return c.Article == "" })
	for _, g := range groupBy(repeated, func(c result.Case) string { return string(c.Article) }) {
		tables := unique(each(g.items, func(c result.Case) string { return c.Table }))
		c.Sources = append(c.Sources, strings.TrimSuffix(sourceText(g.items[0].Article)+": "+strings.Join(tables, "; "), ": "))
	}
	return c
}

// compare counts the cases in which our fastest model is faster or slower than
// the fastest peer, and returns those in which it is slower. Undecided does not mean equal.
func (c *chapter) compare() (slower []string) {
	for _, k := range c.Cases {
		ours := c.Best(k.Name, measure.Time, func(m result.Model) bool { return m.Kind == result.Ours })
		peer := c.Best(k.Name, measure.Time, result.Model.IsPeer)
		if ours == nil || peer == nil {
			continue
		}
		switch in := ours.Ratio(peer, measure.Time).Interval; {
		case in != nil && in.Hi < 1:
			c.Faster++
		case in != nil && in.Lo > 1:
			c.Slower++
			slower = append(slower, k.Name)
		default:
			c.Undecided++
		}
	}
	return slower
}

// lower returns an answer of the feature table like one of a claim.
func lower(a features.Answer) result.Answer { return result.Answer(strings.ToLower(string(a))) }
