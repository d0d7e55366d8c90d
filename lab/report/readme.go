package report

import (
	"cmp"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/stint-go/stint/lab/claims"
	"github.com/stint-go/stint/lab/draw"
	"github.com/stint-go/stint/lab/features"
)

// compared are the rows of the README's table: those that people choose a library by.
var compared = []string{
	"Adaptive limit", "Worker reuse", "Context", "First error cancels", "All errors", "Panics", "Nesting", "Ordered stream",
}

// comparison returns a table that is narrow enough for a phone, and below it the notes of what others have in part, and of
// stint.
func comparison(table features.Table) string {
	g, notes := grid{{""}}, ""
	for _, l := range table.Libraries {
		g[0] = append(g[0], l.Name)
	}
	for _, f := range table.Features {
		last := f.Cells[len(f.Cells)-1]
		row, note := []string{fmt.Sprintf("[%s](%s#L%d)", f.Name, last.File, last.Line)}, fmt.Sprintf("\n- **%s.** %s", f.Name, f.Doc)
		for _, c := range f.Cells {
			row = append(row, strings.ToLower(string(c.Answer)))
			if c.Note != "" && (c.Answer == features.Partly || c.Library == "stint") {
				note += fmt.Sprintf(" *%s*: %s", c.Library, c.Note)
			}
		}
		g, notes = append(g, row), notes+note
	}
	return g.String() + notes
}

// featureTable returns a table of features. Each answer links to the test that demonstrates it.
func featureTable(table features.Table) string {
	g := grid{{"each answer links to its test; the title of the link is the note"}}
	for _, l := range table.Libraries {
		g[0] = append(g[0], strings.TrimSuffix(l.Name+" "+l.Version, " (devel)"))
	}
	for _, f := range table.Features {
		row := []string{"**" + f.Name + "**: " + f.Doc}
		for _, c := range f.Cells {
			row = append(row, cell(c))
		}
		g = append(g, row)
	}
	return g.String()
}

func cell(c features.Cell) string {
	title := ""
	if c.Note != "" {
		title = fmt.Sprintf(" %q", strings.ReplaceAll(c.Note, `"`, "'"))
	}
	s := fmt.Sprintf("[%s](%s#L%d%s)", strings.ToLower(string(c.Answer)), c.File, c.Line, title)
	if c.Survey.Answer != "" {
		s += strings.TrimSpace(fmt.Sprintf("<br>the article: %s. %s", strings.ToLower(string(c.Survey.Answer)), c.Survey.Why))
	}
	return s
}

// called returns the name of a benchmark of a cost that readers know.
func called(name string) string {
	limits := strings.NewReplacer("goroutines", "goroutines, no limit", "-no-limit", ", no limit")
	return limits.Replace(model.FindStringSubmatch(name)[2])
}

// costs returns the README's table and the panels of its picture.
func (r *Report) costs() (g grid, panels []draw.Panel, err error) {
	g = grid{{"", "stint", "others, **the best in bold**", "stint / the best of the others"}}
	here := r.read(claims.Ours, "", "")
	for _, c := range claims.Costs {
		best := here.Least(c.Others, true, c.Unit)
		title, _, _ := strings.Cut(c.Of, ";")
		p := draw.Panel{Title: strings.ToUpper(title[:1]) + title[1:]}
		said := map[bool][]string{} // ours and others
		for i, name := range slices.Concat(c.Ours, c.Others) {
			f := here.Median(name, true, c.Unit)
			if f.Rounds == 0 {
				return nil, nil, fmt.Errorf("%s: %s was not measured", c.Of, name)
			}
			b := draw.Bar{Name: called(name), Text: claims.Quantity(f.Center, c.Unit), Ours: i < len(c.Ours), Summary: value(f)}
			p.Bars = append(p.Bars, b)
			text := b.Name + " " + b.Text
			if name == best {
				text = "**" + text + "**"
			}
			said[b.Ours] = append(said[b.Ours], text)
		}
		ratio := here.Figure(claims.Pair{A: c.Ours[0], B: best, AAll: true, BAll: true, Unit: c.Unit})
		than := claims.Ratio(ratio) + " x " + called(best)
		g = append(g, []string{c.Of, strings.Join(said[true], ", "), strings.Join(said[false], ", "), than})
		panels = append(panels, p)
	}
	return g, panels, nil
}

func (r *Report) picture(dark bool) (string, error) {
	_, panels, err := r.costs()
	machine, _, _ := strings.Cut(r.results.Machine(), ";")
	note := "Medians with 95 % intervals; shorter is better. " + machine + "."
	return draw.Fixed(draw.Bars("costs", "stint and other ways to do the same work", note, panels), dark), err
}

// part matches what the laboratory writes in a file. Its name is costs, comparison, or none for the whole report.
var part = regexp.MustCompile(`(?s)(<!-- lab:begin ?(\w*) -->).*?<!-- lab:end -->`)

// replaced returns a file with the parts replaced that the laboratory writes.
func (r *Report) replaced(name string) (string, error) {
	text, err := os.ReadFile(name)
	if err == nil && !part.Match(text) {
		err = fmt.Errorf("%s: no line <!-- lab:begin -->", name)
	}
	out := part.ReplaceAllStringFunc(string(text), func(old string) string {
		found := part.FindStringSubmatch(old)
		made := ""
		switch found[2] {
		case "":
			made = r.Markdown()
		case "costs":
			table, _, err2 := r.costs()
			err = cmp.Or(err, err2)
			made = fmt.Sprintf("%s\nMedians. %s", table, r.machine())
		case "comparison":
			made = comparison(r.features.Only(compared, "workerpool"))
		default:
			err = cmp.Or(err, fmt.Errorf("%s: unknown part %q", name, found[2]))
		}
		return found[1] + "\n\n" + strings.TrimSpace(made) + "\n\n<!-- lab:end -->"
	})
	return out, err
}
