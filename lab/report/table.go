package report

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/stint-go/stint/lab/result"
)

// Table writes r for the terminal: the machine, a table per case with a star at
// its fastest model, the verdicts, the rows with a faster peer, and the
// warnings.
func Table(w io.Writer, r *result.Result) error {
	var b bytes.Buffer
	head(&b, r)
	for _, c := range r.Cases {
		if g := newGrid(r, c); len(g.rows) > 0 {
			fmt.Fprintf(&b, "%s: %s\n", c.Name, about(r, c))
			g.align(&b)
			fmt.Fprintln(&b)
		}
	}
	list(&b, tallyText(r), each(r.Verdicts, func(v result.Verdict) string {
		return fmt.Sprintf("%-8s  %s", v.Answer, fullText(v))
	}))
	list(&b, "where a peer's median is smaller", each(r.Losses(), lossText))
	list(&b, "notes", r.Notes)
	list(&b, "signs (* is the best row of a case)", legend)
	list(&b, "warnings", each(r.Warnings, warningText))
	_, err := w.Write(b.Bytes())
	return err
}

func head(b *bytes.Buffer, r *result.Result) {
	fmt.Fprintf(b, "%s: %s\n\n", r.Experiment, r.Workload)
	fmt.Fprintf(b, "command  %s\n", r.Command)
	fmt.Fprintf(b, "machine  %s\n", r.Machine)
	for _, tool := range r.Tools {
		fmt.Fprintf(b, "tool     %s\n", tool)
	}
	for _, m := range r.Models {
		fmt.Fprintf(b, "model    %s: %s\n", m.Name, m.Doc)
	}
	fmt.Fprintln(b)
}

// list writes a list with a heading, unless it is empty.
func list(b *bytes.Buffer, title string, lines []string) {
	if len(lines) == 0 {
		return
	}
	fmt.Fprintln(b, title)
	for _, line := range lines {
		fmt.Fprintf(b, "  %s\n", line)
	}
	fmt.Fprintln(b)
}

// align writes a grid in columns.
func (g grid) align(b *bytes.Buffer) {
	t := tabwriter.NewWriter(b, 0, 0, 2, ' ', tabwriter.AlignRight)
	for _, row := range append([][]string{g.head}, g.rows...) {
		fmt.Fprintln(t, strings.Join(row, "\t")+"\t")
	}
	_ = t.Flush() // into a buffer
}
