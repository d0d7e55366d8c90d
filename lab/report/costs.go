package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/stint-go/stint/lab/measure"
	"github.com/stint-go/stint/lab/result"
)

// A Cost is a row of the table of costs, with models of ours and of others in a
// case.
type Cost struct {
	Of               string // what is measured
	Experiment, Case string
	Unit             measure.Unit
	Ours, Others     []string // none: in the picture alone
	Pictured         []string // in the picture, the first of ours first
}

// Costs writes the table of costs. The best of the others is bold, and our
// ratios refer to it. Rows and models that were not measured are named below.
func Costs(w io.Writer, results []*result.Result, dir string, costs []Cost) error {
	g := Grid{Head: []string{"", "stint", "others, **best in bold**", "stint / best of the others"}}
	var used [][2]string // machines and commands
	var missing []string
	for _, c := range costs {
		if len(c.Ours) == 0 {
			continue
		}
		r := named(results, c.Experiment)
		line, absent := c.line(r)
		if r.Experiment == "" {
			absent = []string{"all"}
		}
		if line != nil {
			g.Rows = append(g.Rows, line)
			used = append(used, [2]string{r.Machine.Name(), "`" + r.Command + "`"})
		}
		if len(absent) > 0 {
			missing = append(missing, fmt.Sprintf("%s (%s)", c.Of, strings.Join(absent, ", ")))
		}
	}
	text := "Medians from `" + dir + "`."
	for _, on := range groupBy(used, func(u [2]string) string { return u[0] }) {
		text += " On " + on.key + ": " + strings.Join(unique(each(on.items, func(u [2]string) string { return u[1] })), " and ") + "."
	}
	text += "\n"
	if len(g.Rows) > 0 {
		text = g.pipes() + "\n" + text
	}
	if len(missing) > 0 {
		text += "Not measured: " + strings.Join(missing, "; ") + ".\n"
	}
	_, err := io.WriteString(w, text)
	return err
}

// line returns the row, or nil if all models of one side are missing, and the
// missing models.
func (c Cost) line(r *result.Result) (line, missing []string) {
	find := func(names []string) []*result.Row {
		var rows []*result.Row
		for _, name := range names {
			if row := r.Row(c.Case, name); row.Median(c.Unit).N > 0 {
				rows = append(rows, row)
			} else {
				missing = append(missing, name)
			}
		}
		return rows
	}
	ours, others := find(c.Ours), find(c.Others)
	if len(ours) == 0 || len(others) == 0 {
		return nil, missing
	}
	than := slices.MinFunc(others, func(a, b *result.Row) int { return cmp.Compare(a.Median(c.Unit).Median, b.Median(c.Unit).Median) })
	words := func(row *result.Row) string {
		text := row.Model + " " + describe(c.Unit).format(row.Median(c.Unit).Median)
		if r.Model(row.Model).Unbounded {
			text += " (no limit)"
		}
		if row == than {
			return strong(text)
		}
		return text
	}
	ratios := each(ours, func(row *result.Row) string { return short(row.Ratio(than, c.Unit), times) })
	return []string{c.Of, strings.Join(each(ours, words), ", "), strings.Join(each(others, words), ", "), strings.Join(ratios, ", ") + " x " + than.Model}, missing
}
