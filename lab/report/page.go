package report

import (
	"bytes"
	_ "embed" // for the template and the rules of the page
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"

	"github.com/stint-go/stint/lab/chart"
	"github.com/stint-go/stint/lab/features"
	"github.com/stint-go/stint/lab/measure"
	"github.com/stint-go/stint/lab/result"
)

//go:embed page.html
var pageText string

//go:embed page.css
var pageStyle string

// A page is the template's data.
type page struct {
	Style       template.CSS
	Machines    []machineText
	Commands    []string
	Quick       []string // experiments with smaller sizes
	Unfinished  []string // experiments that ended early
	Conclusions []pageConclusion
	Chapters    []*chapter
	Features    matrix
}

// A chapter is one experiment.
type chapter struct {
	*result.Result
	ID       string
	Answers  result.Answers
	Pairings pairings
	Claims   sheet
	Losses   []string // certain losses
	Open     []string // uncertain losses
	Key      []keyEntry
	Groups   []group
}

// A group holds charts shown side by side.
type group struct {
	Name    string // empty: the group is always shown
	Figures []figure
}

// A figure is one or more drawings of the same rows, with their table.
type figure struct {
	Name, Note string
	SVG        []template.HTML
	Tables     []sheet
}

// Wide reports whether there are several drawings.
func (f figure) Wide() bool { return len(f.SVG) > 1 }

// A sheet is a grid with a name. The cells of the column Named are row
// headings.
type sheet struct {
	Name, Note string
	Named      int
	grid
}

// machineText describes a machine, and the experiments on it if there are
// several machines.
type machineText struct {
	Facts       [][2]string
	Experiments []string
}

// writePage writes results and the feature table as one self-contained page
// without scripts.
func writePage(w io.Writer, results []*result.Result, table features.Table) error {
	t, err := template.New("page").Funcs(template.FuncMap{"sign": sign, "shares": shares, "number": isNumber}).Parse(pageText)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := t.Execute(&b, newPage(results, table)); err != nil {
		return err
	}
	_, err = w.Write(b.Bytes())
	return err
}

// isNumber reports whether a cell is a number with its unit, to be aligned.
func isNumber(cell string) bool {
	return cell != "" && cell[0] >= '0' && cell[0] <= '9' && !strings.ContainsAny(cell, "[,")
}

func newPage(results []*result.Result, table features.Table) *page {
	p := &page{
		Style:       template.CSS(chart.Style + pageStyle),
		Machines:    machines(results),
		Conclusions: pageConclusions(results),
		Features:    newMatrix(table),
	}
	for _, r := range results {
		if !slices.Contains(p.Commands, r.Command) {
			p.Commands = append(p.Commands, r.Command)
		}
		if r.Quick {
			p.Quick = append(p.Quick, r.Experiment)
		}
		if r.Unfinished != "" {
			p.Unfinished = append(p.Unfinished, r.Experiment)
		}
		p.Chapters = append(p.Chapters, newChapter(r))
	}
	return p
}

func newChapter(r *result.Result) *chapter {
	s := &chapter{Result: r, ID: "experiment-" + r.Experiment, Answers: result.AnswersOf(r.Verdicts), Claims: claims(r.Verdicts)}
	for _, l := range r.Losses() {
		text := fmt.Sprintf("%s: %s takes %s times as long as %s", l.Case, l.Model, short(l.Ratio, times), l.Peer)
		if l.Sure() {
			s.Losses = append(s.Losses, text)
		} else {
			s.Open = append(s.Open, text)
		}
	}
	d := &drawer{Result: r}
	s.Pairings = d.pairings()
	s.Groups = groups(r, d.figures())
	s.Key = d.signs.key()
	return s
}

// maxFigures is the number of figures above which only the main cases are
// shown, and others grouped by the first part of their names.
const maxFigures = 14

// groups groups figures. The first group has no name and is always shown.
func groups(r *result.Result, all []figure) []group {
	if len(all) <= maxFigures {
		return []group{{Figures: all}}
	}
	main := map[string]bool{}
	for _, c := range r.Main() {
		main[c.Name] = true
	}
	var mainModels, rest []figure
	for _, f := range all {
		if slices.ContainsFunc(f.Tables, func(s sheet) bool { return main[s.Name] }) {
			mainModels = append(mainModels, f)
		} else {
			rest = append(rest, f)
		}
	}
	first := func(f figure) string {
		part, _, _ := strings.Cut(f.Name, "/")
		return part
	}
	out := []group{{Figures: mainModels}}
	for _, b := range groupBy(rest, first) {
		out = append(out, group{b.key, b.items})
	}
	return out
}

// machines describes the machines of results, each once.
func machines(results []*result.Result) []machineText {
	var order []measure.Machine
	on := map[measure.Machine][]*result.Result{}
	for _, r := range results {
		m := r.Machine
		m.Load, m.Others, m.Timer = nil, nil, 0 // they belong to a run
		if on[m] == nil {
			order = append(order, m)
		}
		on[m] = append(on[m], r)
	}
	var out []machineText
	for _, m := range order {
		text := machineText{Facts: facts(m, on[m])}
		for _, r := range on[m] {
			if len(order) > 1 {
				text.Experiments = append(text.Experiments, r.Experiment)
			}
		}
		out = append(out, text)
	}
	return out
}

// facts describes a machine and its load.
func facts(m measure.Machine, results []*result.Result) [][2]string {
	cpu := m.CPU
	if cpu == "" {
		cpu = "not known"
	}
	out := [][2]string{
		{"Processor", cpu},
		{"Processors", fmt.Sprint(m.Processors)},
		{"System", m.GOOS + "/" + m.GOARCH},
		{"Go", strings.TrimPrefix(m.Go, "go")},
	}
	var load, others []float64
	for _, r := range results {
		if r.Machine.Load != nil {
			load = append(load, *r.Machine.Load)
		}
		if r.Machine.Others != nil {
			others = append(others, *r.Machine.Others)
		}
	}
	if len(load) > 0 {
		out = append(out, [2]string{"Load average before the runs", extent(load)})
	}
	if len(others) > 0 {
		out = append(out, [2]string{"Processors used by other programs", extent(others)})
	}
	return out
}

// extent returns the range of values.
func extent(values []float64) string {
	lo, hi := fmt.Sprintf("%.2f", slices.Min(values)), fmt.Sprintf("%.2f", slices.Max(values))
	if lo == hi {
		return lo
	}
	return lo + " to " + hi
}
