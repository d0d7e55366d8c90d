package report

import (
	"fmt"
	"strings"

	"github.com/stint-go/stint/lab/features"
)

// compared are the rows of the README's table: those that people choose a library by.
var compared = []string{
	"Adaptive limit", "Limit", "Worker reuse", "Context", "First error cancels", "All errors", "Panics", "Nesting", "Bounded queue",
	"Typed results", "Ordered stream", "Batches", "Resizing", "Bubbles",
}

// featureTable returns the feature table, or what part makes of it. Each answer links to the test that demonstrates it.
func featureTable(part func(features.Table) features.Table) (string, error) {
	table, err := features.All()
	if err != nil {
		return "", err
	}
	if part != nil {
		table = part(table)
	}
	grid := [][]string{{"each answer links to its test; the title of the link is the note"}}
	for _, l := range table.Libraries {
		grid[0] = append(grid[0], strings.TrimSuffix(l.Name+" "+l.Version, " (devel)"))
	}
	for i, f := range table.Features {
		row := []string{"**" + f.Name + "**: " + f.Doc}
		for _, c := range table.Cells[i] {
			row = append(row, cell(c))
		}
		grid = append(grid, row)
	}
	var w strings.Builder
	writeGrid(&w, grid)
	return w.String(), nil
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
