package report

import (
	_ "embed" // for the templates and the rules of the page
	"fmt"
	htmltemplate "html/template"
	"io"
	"slices"
	"strings"
	"text/template"

	"github.com/stint-go/stint/lab/chart"
	"github.com/stint-go/stint/lab/features"
	"github.com/stint-go/stint/lab/measure"
	"github.com/stint-go/stint/lab/result"
	"github.com/stint-go/stint/lab/stats"
)

//go:embed page.html
var pageText string

//go:embed page.css
var pageStyle string

//go:embed text.md
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

// A run names the experiments that one command measured on one machine.
type run struct{ Experiments, Machine, Command, Commit string }

// A group holds the conclusions of an article, or ours, and the tables with the
// article's figures.
type group struct {
	ID, Title   string
	Conclusions []conclusion
	Tables      []Grid
}

// A conclusion is a sentence with the answers of its claims.
type conclusion struct {
	result.Conclusion
	Answers     result.Answers
	Answer, Why string
	Claims      Grid
}

// A chapter is one experiment.
type chapter struct {
	*result.Result
	ID                        string
	Answers                   result.Answers
	Claims                    Grid
	Sources                   []string
	Faster, Slower, Undecided int      // cases, by our fastest model and the fastest peer
	Lost                      []string // a line a case with a peer that is certainly faster than a row of ours
	Open                      int      // rows of ours with a larger median, undecided
	Figures                   []figure
	Tables                    []Grid
}

// writePage writes results and the feature table as one self-contained page
// without scripts.
func writePage(w io.Writer, results []*result.Result, table features.Table) error {
	t, err := htmltemplate.New("page").Funcs(htmltemplate.FuncMap{"sign": sign, "number": isNumber, "answer": featureAnswer}).Parse(pageText)
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

// writeText writes one of the Markdown texts. Links start at the root of the
// repository if a directory of results is named, and at its address otherwise.
func writeText(w io.Writer, name string, results []*result.Result, table features.Table, dir string) error {
	root := ""
	if dir == "" {
		root = "https://github.com/stint-go/stint/blob/main/"
	}
	t, err := template.New(name).Funcs(template.FuncMap{
		"root": func() string { return root }, "cell": func(s string) string { return strings.ReplaceAll(s, "|", `\|`) },
		"join": strings.Join, "lower": func(a features.Answer) string { return strings.ToLower(string(a)) },
		"pipes": Grid.pipes, "table": newGrid, "loss": lossText,
	}).Parse(markdownText)
	if err != nil {
		return err
	}
	v := newView(results, table)
	v.Dir = dir
	return t.ExecuteTemplate(w, name, v)
}

// Summary writes a summary of the results in dir: the conclusions by article
// with the articles' figures, our conclusions, the cases with a faster peer,
// and the feature table.
func Summary(w io.Writer, results []*result.Result, t features.Table, dir string) error {
	return writeText(w, "summary", results, t, dir)
}

// isNumber reports whether a cell is a number with its unit, to be aligned.
func isNumber(cell string) bool {
	return cell != "" && cell[0] >= '0' && cell[0] <= '9' && !strings.ContainsAny(cell, "[,;")
}

func newView(results []*result.Result, table features.Table) *view {
	v := &view{Features: table, Groups: groups(results), Chapters: each(results, newChapter), Legend: legend}
	for _, g := range groupBy(results, func(r *result.Result) string { return r.Machine.Name() + r.Command + r.Commit }) {
		names := each(g.items, func(r *result.Result) string { return r.Experiment })
		v.Runs = append(v.Runs, run{strings.Join(names, ", "), g.items[0].Machine.Name(), g.items[0].Command, g.items[0].Commit})
	}
	return v
}

func newChapter(r *result.Result) *chapter {
	c := &chapter{Result: r, ID: "experiment-" + r.Experiment, Answers: result.AnswersOf(r.Verdicts), Claims: claims(r.Verdicts)}
	for _, p := range pairings(r) {
		*map[string]*int{faster: &c.Faster, slower: &c.Slower, undecided: &c.Undecided}[p.word()]++
	}
	losses := r.Losses()
	sure := slices.DeleteFunc(slices.Clone(losses), func(l result.Loss) bool { return !l.Sure() })
	c.Open = len(losses) - len(sure)
	for _, g := range groupBy(sure, func(l result.Loss) string { return l.Case }) {
		ours := each(g.items, func(l result.Loss) string { return l.Model + " " + short(l.Ratio, times) })
		c.Lost = append(c.Lost, fmt.Sprintf("%s, %s: %s", g.key, g.items[0].Peer, strings.Join(ours, ", ")))
	}
	repeated := slices.DeleteFunc(slices.Clone(r.Cases), func(c result.Case) bool { return c.Article == "" })
	for _, g := range groupBy(repeated, func(c result.Case) string { return string(c.Article) }) {
		tables := unique(each(g.items, func(c result.Case) string { return c.Table }))
		c.Sources = append(c.Sources, strings.TrimSuffix(sourceText(g.items[0].Article)+": "+strings.Join(tables, "; "), ": "))
	}
	return c
}

// A pairing compares our fastest model of a case with the fastest peer.
type pairing struct {
	Case        string
	Ours, Other *result.Row
	Ratio       stats.Estimate // of the times, ours to the other's
}

// pairings returns the pairings of all cases with a time of ours and of a peer.
func pairings(r *result.Result) []pairing {
	var out []pairing
	for _, c := range r.Cases {
		ours := r.Best(c.Name, measure.Time, func(m result.Model) bool { return m.Kind == result.Ours })
		other := r.Best(c.Name, measure.Time, result.Model.IsPeer)
		if ours == nil || other == nil {
			continue
		}
		if ratio := ours.Ratio(other, measure.Time); ratio.N > 0 {
			out = append(out, pairing{c.Name, ours, other, ratio})
		}
	}
	return out
}

// The results of a pairing. Undecided does not mean equal.
const (
	faster    = "faster"
	slower    = "slower"
	undecided = "undecided"
)

func (p pairing) word() string {
	switch in := p.Ratio.Interval; {
	case in == nil:
		return undecided
	case in.Hi < 1:
		return faster
	case in.Lo > 1:
		return slower
	}
	return undecided
}

// featureAnswer returns an answer of the feature table as one of a claim, to
// show its sign.
func featureAnswer(a features.Answer) result.Answer {
	if a == features.Partly {
		return result.InPart
	}
	return result.Answer(strings.ToLower(string(a)))
}
