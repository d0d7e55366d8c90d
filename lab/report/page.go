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

// A page is what the template is given.
type page struct {
	Style       template.CSS
	Machines    []machineText
	Commands    []string
	Quick       []string // experiments that did less than the claims are about
	Unfinished  []string // experiments that ended early
	Conclusions []finding
	Chapters    []*chapter
	Features    matrix
}

// A chapter is one experiment.
type chapter struct {
	*result.Result
	ID       string
	Answers  result.Answers
	Standing standing
	Claims   sheet
	Losses   []string // for sure
	Open     []string // losses that the interval leaves open
	Key      []keyEntry
	Groups   []group
}

// A group is charts that stand side by side.
type group struct {
	Name    string // empty: all there are
	Figures []figure
}

// A figure is a drawing, or several of the same rows, and the table of what is
// drawn.
type figure struct {
	Name, Note string
	SVG        []template.HTML
	Tables     []sheet
}

// Wide reports whether the drawings stand side by side.
func (f figure) Wide() bool { return len(f.SVG) > 1 }

// A sheet is a grid with a name. The cells of the column Named name their rows.
type sheet struct {
	Name, Note string
	Named      int
	grid
}

// machineText is a machine in words, and where not all experiments ran on it,
// which did.
type machineText struct {
	Facts       [][2]string
	Experiments []string
}

// writePage writes results and the table of features as one page that needs nothing
// but itself: no network and no script.
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

// isNumber reports whether a cell is a number with its unit, which stands below
// others like it.
func isNumber(cell string) bool {
	return cell != "" && cell[0] >= '0' && cell[0] <= '9' && !strings.ContainsAny(cell, "[,")
}

func newPage(results []*result.Result, table features.Table) *page {
	p := &page{
		Style:       template.CSS(chart.Style + pageStyle),
		Machines:    machines(results),
		Conclusions: findings(results),
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
	s.Standing = d.standing()
	s.Groups = groups(r, d.figures())
	s.Key = d.seen.key()
	return s
}

// many is the number of figures above which only those of the main cases are
// shown at once, and the others by the first part of their names.
const many = 14

// groups puts figures together. The first group has no name and is shown.
func groups(r *result.Result, all []figure) []group {
	if len(all) <= many {
		return []group{{Figures: all}}
	}
	main := map[string]bool{}
	for _, c := range r.Main() {
		main[c.Name] = true
	}
	var shown, rest []figure
	for _, f := range all {
		if slices.ContainsFunc(f.Tables, func(s sheet) bool { return main[s.Name] }) {
			shown = append(shown, f)
		} else {
			rest = append(rest, f)
		}
	}
	first := func(f figure) string {
		part, _, _ := strings.Cut(f.Name, "/")
		return part
	}
	out := []group{{Figures: shown}}
	for _, b := range bunches(rest, first) {
		out = append(out, group{b.key, b.of})
	}
	return out
}

// machines describes where results are from, each machine once.
func machines(results []*result.Result) []machineText {
	var order []measure.Machine
	on := map[measure.Machine][]*result.Result{}
	for _, r := range results {
		m := r.Machine
		m.Load, m.Others, m.Timer = nil, nil, 0 // these are of a run
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

// facts are what is known of a machine and of how busy it was.
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

// extent is from the smallest to the largest of some numbers.
func extent(values []float64) string {
	lo, hi := fmt.Sprintf("%.2f", slices.Min(values)), fmt.Sprintf("%.2f", slices.Max(values))
	if lo == hi {
		return lo
	}
	return lo + " to " + hi
}
