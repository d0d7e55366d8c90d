package report

import (
	"bytes"
	"fmt"
	"io"

	"github.com/stint-go/stint/lab/result"
)

// Table writes r for the terminal: the machine, a table per case with a star at
// its fastest model, the verdicts, the rows with a faster peer, and the
// warnings.
func Table(w io.Writer, r *result.Result) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s: %s\n\ncommand  %s\nmachine  %s\n", r.Experiment, r.Workload, r.Command, r.Machine)
	for _, tool := range r.Tools {
		fmt.Fprintf(&b, "tool     %s\n", tool)
	}
	for _, m := range r.Models {
		fmt.Fprintf(&b, "model    %s: %s\n", m.Name, m.Doc)
	}
	fmt.Fprintln(&b)
	for _, c := range r.Cases {
		if g := newGrid(r, c); len(g.Rows) > 0 {
			fmt.Fprintf(&b, "%s: %s\n\n", g.Name, g.Note)
			g.write(&b, true)
			fmt.Fprintln(&b)
		}
	}
	list(&b, "claims", each(r.Verdicts, func(v result.Verdict) string {
		return fmt.Sprintf("%s  %-8s  %s", sign(v.Answer), v.Answer, fullText(v))
	}))
	list(&b, "where a peer's median is smaller", each(r.Losses(), lossText))
	list(&b, "notes", r.Notes)
	list(&b, "signs (* is the best row of a case)", legend)
	list(&b, "warnings", each(r.Warnings, warningText))
	_, err := w.Write(b.Bytes())
	return err
}

// legend explains the signs in tables and verdicts.
var legend = []string{
	"best row: the smallest median of a case, except floors; a floor is a lower bound, not an alternative",
	"yes: the whole interval meets the bar of the claim; no: no part of it does; not sure: the bar is inside the interval, or there is no interval",
	"stretch: a harder bar, for the record; it decides nothing",
}

func warningText(w result.Warning) string { return w.Kind + ": " + w.Text }

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
