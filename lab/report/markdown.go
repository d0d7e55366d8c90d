package report

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/stint-go/stint/lab/features"
	"github.com/stint-go/stint/lab/result"
)

// legend explains the signs in tables and verdicts.
var legend = []string{
	"best row: the smallest median of a case, except floors; a floor is a lower bound, not an alternative",
	"yes: the whole interval meets the bar of the claim; no: no part of it does; not sure: the bar is inside the interval, or there is no interval",
	"stretch: a harder bar, for the record; it decides nothing",
}

// writeMarkdown writes everything: the conclusions, the feature table, and a
// section per experiment with the tables of all cases. root is the path of the
// repository for links: empty, or ending in a slash.
func writeMarkdown(w io.Writer, results []*result.Result, t features.Table, root string) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "# Report\n")
	bullets(&b, "Signs (the best row of a case is bold)", legend)
	conclusions(&b, results)
	featureTable(&b, t, root)
	for _, r := range results {
		fmt.Fprintln(&b)
		section(&b, r)
	}
	_, err := w.Write(b.Bytes())
	return err
}

// section writes one result.
func section(b *bytes.Buffer, r *result.Result) {
	fmt.Fprintf(b, "## %s\n\n%s.\n\n", r.Experiment, r.Workload)
	fmt.Fprintf(b, "`%s` on %s.\n", r.Command, r.Machine)
	for _, tool := range r.Tools {
		fmt.Fprintf(b, "With %s.\n", tool)
	}
	if len(r.Verdicts) > 0 {
		fmt.Fprintf(b, "\n### %s: verdicts\n\n%s.\n\n", r.Experiment, tallyText(r))
		verdicts(b, r.Verdicts)
	}
	bullets(b, "Where a peer's median is smaller", each(r.Losses(), lossText))
	bullets(b, "Warnings", each(r.Warnings, warningText))
	bullets(b, "How to read it", r.Notes)
	bullets(b, "Models", each(r.Models, modelText))
	for _, c := range r.Cases {
		table(b, r, c)
	}
}

// conclusions writes the table of conclusions.
func conclusions(b *bytes.Buffer, results []*result.Result) {
	all := result.Conclusions(results)
	if len(all) == 0 {
		return
	}
	fmt.Fprintf(b, "\n## Conclusions\n\nSentences of articles and our own, with the answers of the claims that support them.\n\n")
	g := grid{head: []string{"", "conclusion", "experiment", "figures"}}
	for _, c := range all {
		g.rows = append(g.rows, []string{strong(answerText(c)), c.Text, strings.Join(c.Experiments, ", "), restsOn(c)})
	}
	g.pipes(b)
}

// verdicts writes a table of verdicts.
func verdicts(b *bytes.Buffer, verdicts []result.Verdict) {
	g := grid{head: []string{"", "case", "claim", "figures"}}
	for _, v := range verdicts {
		g.rows = append(g.rows, []string{strong(string(v.Answer)), v.Case, verdictText(v), figuresText(v)})
	}
	g.pipes(b)
}

// table writes the rows of a case.
func table(b *bytes.Buffer, r *result.Result, c result.Case) {
	if g := newGrid(r, c); len(g.rows) > 0 {
		fmt.Fprintf(b, "\n### %s %s\n\n%s\n\n", r.Experiment, c.Name, about(r, c))
		g.pipes(b)
	}
}

// bullets writes a list with a heading, unless it is empty.
func bullets(b *bytes.Buffer, title string, lines []string) {
	if len(lines) == 0 {
		return
	}
	fmt.Fprintf(b, "\n%s:\n\n", title)
	for _, line := range lines {
		fmt.Fprintf(b, "- %s\n", line)
	}
}

func warningText(w result.Warning) string { return w.Kind + ": " + w.Text }

// modelText describes a model.
func modelText(m result.Model) string { return "`" + m.Name + "`: " + m.Doc }

func strong(text string) string { return "**" + text + "**" }

// pipes writes a grid as a Markdown table.
func (g grid) pipes(b *bytes.Buffer) {
	rule := make([]string, len(g.head))
	for i := range rule {
		rule[i] = "---"
	}
	for _, row := range append([][]string{g.head, rule}, g.rows...) {
		for _, cell := range row {
			if best, ok := strings.CutPrefix(cell, "* "); ok {
				cell = strong(best)
			}
			fmt.Fprintf(b, "| %s ", strings.ReplaceAll(cell, "|", `\|`))
		}
		fmt.Fprintln(b, "|")
	}
}
