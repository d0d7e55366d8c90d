package report

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/stint-go/stint/lab/features"
)

// abilities writes the table of what libraries do. Each answer is a link to the
// test that demonstrates it, with the note on it as a title; root is the way to
// the repository from where the text will be.
func abilities(b *bytes.Buffer, t features.Table, root string) {
	fmt.Fprintf(b, "\n## Features\n\nEach answer leads to the test that demonstrates it against that version of the library. What there is to say about it is the comment on the test, and the title of the link.\n\n")
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

// link is an answer that leads to its test.
func link(c features.Cell, root string) string {
	to := fmt.Sprintf("%s%s#L%d", root, c.File, c.Line)
	if c.Note != "" {
		to += ` "` + strings.ReplaceAll(c.Note, `"`, `\"`) + `"`
	}
	return fmt.Sprintf("[%s](%s)", strings.ToLower(string(c.Answer)), to)
}
