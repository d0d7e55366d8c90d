package report

import (
	"bytes"
	"fmt"
	"io"
	"strings"
)

// Markdown writes results, one section each.
func Markdown(w io.Writer, results []*Result) error {
	var b bytes.Buffer
	for i, r := range results {
		if i > 0 {
			fmt.Fprintln(&b)
		}
		section(&b, r)
	}
	_, err := w.Write(b.Bytes())
	return err
}

func section(b *bytes.Buffer, r *Result) {
	fmt.Fprintf(b, "## %s\n\n%s.\n\n", r.Experiment, r.Workload)
	fmt.Fprintf(b, "`%s` on %s.\n", r.Command, r.Machine)
	for _, tool := range r.Tools {
		fmt.Fprintf(b, "With %s.\n", tool)
	}
	verdicts(b, r)
	losses := r.Losses()
	bullets(b, "Where a peer is faster", len(losses), func(i int) string { return losses[i].text() })
	bullets(b, "Reasons to doubt", len(r.Warnings), func(i int) string { return r.Warnings[i].Kind + ": " + r.Warnings[i].Text })
	bullets(b, "How to read it", len(r.Notes), func(i int) string { return r.Notes[i] })
	bullets(b, "Models", len(r.Models), func(i int) string { return "`" + r.Models[i].Name + "`: " + r.Models[i].Doc })
	for _, c := range r.Cases {
		if g := r.grid(c); len(g.rows) > 0 {
			fmt.Fprintf(b, "\n### %s %s\n\n%s\n\n", r.Experiment, c.Name, r.about(c))
			g.pipes(b)
		}
	}
}

func verdicts(b *bytes.Buffer, r *Result) {
	if len(r.Verdicts) == 0 {
		return
	}
	fmt.Fprintf(b, "\n### %s: verdicts\n\n%s.\n\n", r.Experiment, r.tally())
	g := grid{head: []string{"", "case", "claim", "figures"}}
	for _, v := range r.Verdicts {
		g.rows = append(g.rows, []string{"**" + string(v.Answer) + "**", v.Case, v.Text(), v.figures()})
	}
	g.pipes(b)
}

func bullets(b *bytes.Buffer, title string, n int, line func(i int) string) {
	if n == 0 {
		return
	}
	fmt.Fprintf(b, "\n%s:\n\n", title)
	for i := range n {
		fmt.Fprintf(b, "- %s\n", line(i))
	}
}

// pipes writes a grid as a table of Markdown.
func (g grid) pipes(b *bytes.Buffer) {
	rule := make([]string, len(g.head))
	for i := range rule {
		rule[i] = "---"
	}
	for _, row := range append([][]string{g.head, rule}, g.rows...) {
		for _, cell := range row {
			if best, ok := strings.CutPrefix(cell, "* "); ok {
				cell = "**" + best + "**"
			}
			fmt.Fprintf(b, "| %s ", cell)
		}
		fmt.Fprintln(b, "|")
	}
}
