package report

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/stint-go/stint/lab/features"
)

// featureTable writes the feature table. Each answer links to its test, with
// the note as the link's title. root is the path of the repository.
func featureTable(b *bytes.Buffer, t features.Table, root string) {
	fmt.Fprintf(b, "\n## Features\n\nEach answer links to the test that demonstrates it against that version of the library. The link's title is the note on the answer.\n\n")
	head := []string{""}
	for _, l := range t.Libraries {
		head = append(head, strings.TrimSuffix(l.Name+" "+l.Version, " (devel)"))
	}
	g := grid{head: head}
	for i, f := range t.Features {
		row := each(t.Cells[i], func(c features.Cell) string { return link(c, root) })
		g.rows = append(g.rows, append([]string{strong(f.Name) + ": " + f.Doc}, row...))
	}
	g.pipes(b)
}

// link returns an answer that links to its test.
func link(c features.Cell, root string) string {
	to := fmt.Sprintf("%s%s#L%d", root, c.File, c.Line)
	if c.Note != "" {
		to += ` "` + strings.ReplaceAll(c.Note, `"`, `\"`) + `"`
	}
	return fmt.Sprintf("[%s](%s)", strings.ToLower(string(c.Answer)), to)
}
