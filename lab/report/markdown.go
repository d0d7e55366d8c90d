package report

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/stint-go/stint/lab/features"
	"github.com/stint-go/stint/lab/result"
)

// legend says what the signs in tables and verdicts mean.
var legend = []string{
	"best row: the smallest median of a case, of all models but floors; a floor is not an alternative but what the others can at best come near to",
	"yes: the whole interval of the figure keeps to the bar of the claim; no: none of it does; not sure: the bar lies inside, or there is no interval",
	"stretch: a harder bar, for the record; it decides nothing",
}

// writeMarkdown writes all that is known of results: the conclusions, the table of
// features, then a section for each experiment with the tables of all cases.
// root is the way to the repository from where the text will be, for its links:
// empty, or with a slash at its end.
func writeMarkdown(w io.Writer, results []*result.Result, t features.Table, root string) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "# Report\n")
	bullets(&b, "Signs, the best row of a case is bold", legend)
	conclusions(&b, results)
	abilities(&b, t, root)
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
	bullets(b, "Reasons to doubt", each(r.Warnings, warningText))
	bullets(b, "How to read it", r.Notes)
	bullets(b, "Models", each(r.Models, modelText))
	for _, c := range r.Cases {
		table(b, r, c)
	}
}

// conclusions writes a table of the sentences that claims stand for.
func conclusions(b *bytes.Buffer, results []*result.Result) {
	all := result.Conclusions(results)
	if len(all) == 0 {
		return
	}
	fmt.Fprintf(b, "\n## Conclusions\n\nA sentence of an article or of ours, and what the claims that stand for it came to.\n\n")
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

// bullets writes a headed list, if there is anything in it.
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

// modelText is the model with what it does.
func modelText(m result.Model) string { return "`" + m.Name + "`: " + m.Doc }

func strong(text string) string { return "**" + text + "**" }

// pipes writes a grid as a table of Markdown.
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
