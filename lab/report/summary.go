package report

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/stint-go/stint/lab/features"
	"github.com/stint-go/stint/lab/result"
)

// Summary writes a summary of the results in dir: the counts of answers, the
// conclusions, the feature table, and for each experiment the claims that do
// not hold, the cases with a faster peer, and the tables of the main cases.
// Links start at the root of the repository.
func Summary(w io.Writer, results []*result.Result, t features.Table, dir string) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "Summary of the results in `%s`. `go run ./lab report %s` writes everything: all cases, all claims, the curves.\n", dir, dir)
	bullets(&b, "Measured on", machineLines(results))
	overview(&b, results)
	conclusions(&b, results)
	featureTable(&b, t, "")
	for _, r := range results {
		experimentSummary(&b, r)
	}
	_, err := w.Write(b.Bytes())
	return err
}

// machineLines returns the machines and commands of results, with their
// experiments.
func machineLines(results []*result.Result) []string {
	all := groupBy(results, func(r *result.Result) string { return fmt.Sprintf("%s: `%s`", r.Machine.Name(), r.Command) })
	return each(all, func(b grouped[*result.Result]) string {
		return strings.Join(each(b.items, func(r *result.Result) string { return r.Experiment }), ", ") + ": " + b.key
	})
}

// overview writes the table of the experiments.
func overview(b *bytes.Buffer, results []*result.Result) {
	fmt.Fprintln(b)
	g := grid{head: []string{"experiment", "workload", "claims", "yes", "no", "not sure", "cases", "peer faster in", "undecided in"}}
	for _, r := range results {
		a := result.AnswersOf(r.Verdicts)
		row := []string{fmt.Sprintf("[%s](#%s)", r.Experiment, r.Experiment), r.Workload}
		sure, open := bySurety(r.Losses())
		for _, n := range []int{a.All(), a.Yes, a.No, a.NotSure, len(r.Cases), len(byCase(sure)), len(byCase(open))} {
			row = append(row, fmt.Sprint(n))
		}
		g.rows = append(g.rows, row)
	}
	g.pipes(b)
}

// experimentSummary writes one result.
func experimentSummary(b *bytes.Buffer, r *result.Result) {
	fmt.Fprintf(b, "\n## %s\n\n%s.\n", r.Experiment, r.Workload)
	if len(r.Verdicts) > 0 {
		fmt.Fprintf(b, "\n%s.", tallyText(r))
		if yes := yesByModel(r); len(yes) > 0 {
			fmt.Fprintf(b, " Yes: %s.", strings.Join(yes, ", "))
		}
		fmt.Fprintln(b)
		unmetClaims(b, r)
	}
	fasterPeers(b, r)
	paragraph(b, "Warnings", each(r.Warnings, warningText))
	for _, c := range r.Main() {
		table(b, r, c)
	}
	paragraph(b, "Models", each(mainModels(r), modelText))
}

// paragraph writes a list with a heading as a paragraph, unless it is empty.
func paragraph(b *bytes.Buffer, title string, words []string) {
	if len(words) > 0 {
		fmt.Fprintf(b, "\n%s: %s.\n", title, strings.Join(words, "; "))
	}
}

// mainModels returns the models of the main cases.
func mainModels(r *result.Result) []result.Model {
	var out []result.Model
	for _, c := range r.Main() {
		for _, row := range r.In(c.Name) {
			if m := r.Model(row.Model); !slices.Contains(out, m) {
				out = append(out, m)
			}
		}
	}
	return out
}

// yesByModel counts the claims that hold by model.
func yesByModel(r *result.Result) []string {
	return each(groupBy(answered(r, result.Yes), func(v result.Verdict) string { return v.Model }), func(b grouped[result.Verdict]) string {
		return fmt.Sprintf("%s %d", b.key, len(b.items))
	})
}

// answered returns the verdicts with an answer.
func answered(r *result.Result, a result.Answer) []result.Verdict {
	var out []result.Verdict
	for _, v := range r.Verdicts {
		if v.Answer == a {
			out = append(out, v)
		}
	}
	return out
}

// unmetClaims writes the claims that do not hold or are open. Claims that
// differ only in the case share a line.
func unmetClaims(b *bytes.Buffer, r *result.Result) {
	g := grid{head: []string{"", "claim", "in the case"}}
	for _, a := range []result.Answer{result.No, result.NotSure} {
		for _, same := range groupBy(answered(r, a), func(v result.Verdict) string { return bareText(v.Claim) }) {
			g.rows = append(g.rows, []string{strong(string(a)), same.key, strings.Join(each(same.items, inCaseText), "; ")})
		}
	}
	if len(g.rows) > 0 {
		fmt.Fprintln(b)
		g.pipes(b)
	}
}

// inCaseText returns the case with the verdict's figures.
func inCaseText(v result.Verdict) string {
	words := []string{v.Case}
	if v.Note != "" {
		words = append(words, "("+v.Note+")")
	}
	if v.Against != "" {
		words = append(words, "("+v.Against+")")
	}
	return strings.Join(append(words, short(v.Figures, formatOf(v.Form, describe(v.Unit)))), " ")
}

// fasterPeers lists the cases with a faster peer, and counts the uncertain
// ones.
func fasterPeers(b *bytes.Buffer, r *result.Result) {
	sure, open := bySurety(r.Losses())
	if len(sure) > 0 {
		fmt.Fprintf(b, "\nCases with a faster peer: the time of ours relative to the fastest peer.\n\n")
		g := grid{head: []string{"case", "fastest peer", "ours"}}
		for _, c := range byCase(sure) {
			ours := each(c.items, func(l result.Loss) string { return l.Model + " " + short(l.Ratio, times) })
			g.rows = append(g.rows, []string{c.key, c.items[0].Peer, strings.Join(ours, ", ")})
		}
		g.pipes(b)
	}
	paragraph(b, "A peer's median is smaller, but the interval contains 1", undecided(open))
}

// bySurety separates certain losses from uncertain ones.
func bySurety(losses []result.Loss) (sure, open []result.Loss) {
	for _, l := range losses {
		if l.Sure() {
			sure = append(sure, l)
		} else {
			open = append(open, l)
		}
	}
	return sure, open
}

// undecided counts losses by model, with the largest.
func undecided(losses []result.Loss) []string {
	return each(groupBy(losses, func(l result.Loss) string { return l.Model }), func(b grouped[result.Loss]) string {
		most := slices.MaxFunc(b.items, func(x, y result.Loss) int { return cmp.Compare(x.Ratio.Median, y.Ratio.Median) })
		text := fmt.Sprintf("%s: %s, x %s %s", b.key, most.Case, most.Peer, short(most.Ratio, times))
		if others := len(b.items) - 1; others > 0 {
			text += fmt.Sprintf(", and %d more", others)
		}
		return text
	})
}

// byCase groups losses by case.
func byCase(losses []result.Loss) []grouped[result.Loss] {
	return groupBy(losses, func(l result.Loss) string { return l.Case })
}
