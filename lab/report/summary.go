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

// Summary writes what a reader takes in of the results in a directory: how many
// claims hold, the conclusions, and for each experiment the claims that do not
// hold, all cases in which a peer is faster, and the tables of the main cases.
// The table of features stands in between, with links from the repository's top.
func Summary(w io.Writer, results []*result.Result, t features.Table, dir string) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "Of the results in `%s`. `go run ./lab report %s` writes the rest: all cases, all claims, the curves.\n", dir, dir)
	bullets(&b, "Measured on", places(results))
	overview(&b, results)
	conclusions(&b, results)
	abilities(&b, t, "")
	for _, r := range results {
		brief(&b, r)
	}
	_, err := w.Write(b.Bytes())
	return err
}

// places are the machines and commands of results, each with its experiments.
func places(results []*result.Result) []string {
	all := bunches(results, func(r *result.Result) string { return fmt.Sprintf("%s: `%s`", r.Machine.Name(), r.Command) })
	return each(all, func(b bunch[*result.Result]) string {
		return strings.Join(each(b.of, func(r *result.Result) string { return r.Experiment }), ", ") + ": " + b.key
	})
}

// overview is a table of the experiments.
func overview(b *bytes.Buffer, results []*result.Result) {
	fmt.Fprintln(b)
	g := grid{head: []string{"experiment", "workload", "claims", "yes", "no", "not sure", "cases", "a peer is faster in", "not told apart in"}}
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

// brief writes what is to be known of one result.
func brief(b *bytes.Buffer, r *result.Result) {
	fmt.Fprintf(b, "\n## %s\n\n%s.\n", r.Experiment, r.Workload)
	if len(r.Verdicts) > 0 {
		fmt.Fprintf(b, "\n%s.", tallyText(r))
		if yes := upheld(r); len(yes) > 0 {
			fmt.Fprintf(b, " Yes: %s.", strings.Join(yes, ", "))
		}
		fmt.Fprintln(b)
		missed(b, r)
	}
	behind(b, r)
	paragraph(b, "Reasons to doubt", each(r.Warnings, warningText))
	for _, c := range r.Main() {
		table(b, r, c)
	}
	paragraph(b, "Models", each(shown(r), modelText))
}

// paragraph writes a headed list as a paragraph, if there is anything in it.
func paragraph(b *bytes.Buffer, title string, words []string) {
	if len(words) > 0 {
		fmt.Fprintf(b, "\n%s: %s.\n", title, strings.Join(words, "; "))
	}
}

// shown returns the models of the main cases.
func shown(r *result.Result) []result.Model {
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

// upheld counts the claims of each model that hold.
func upheld(r *result.Result) []string {
	return each(bunches(answered(r, result.Yes), func(v result.Verdict) string { return v.Model }), func(b bunch[result.Verdict]) string {
		return fmt.Sprintf("%s %d", b.key, len(b.of))
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

// missed writes the claims that do not hold, or are open, with all figures:
// those that differ only in the case on one line.
func missed(b *bytes.Buffer, r *result.Result) {
	g := grid{head: []string{"", "claim", "in the case"}}
	for _, a := range []result.Answer{result.No, result.NotSure} {
		for _, same := range bunches(answered(r, a), func(v result.Verdict) string { return bareText(v.Claim) }) {
			g.rows = append(g.rows, []string{strong(string(a)), same.key, strings.Join(each(same.of, inCaseText), "; ")})
		}
	}
	if len(g.rows) > 0 {
		fmt.Fprintln(b)
		g.pipes(b)
	}
}

// inCaseText is the case with what the claim rests on there.
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

// behind lists the cases in which a peer is faster. Those that an interval which
// holds 1 leaves open are counted.
func behind(b *bytes.Buffer, r *result.Result) {
	sure, open := bySurety(r.Losses())
	if len(sure) > 0 {
		fmt.Fprintf(b, "\nWhere a peer is faster: the time of ours, measured in that of the fastest peer.\n\n")
		g := grid{head: []string{"case", "fastest peer", "ours"}}
		for _, c := range byCase(sure) {
			ours := each(c.of, func(l result.Loss) string { return l.Model + " " + short(l.Ratio, times) })
			g.rows = append(g.rows, []string{c.key, c.of[0].Peer, strings.Join(ours, ", ")})
		}
		g.pipes(b)
	}
	paragraph(b, "Where a peer's median is smaller, but the interval holds 1", undecided(open))
}

// bySurety tells the losses that are sure from those that an interval leaves open.
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

// undecided counts losses by model, with the greatest.
func undecided(losses []result.Loss) []string {
	return each(bunches(losses, func(l result.Loss) string { return l.Model }), func(b bunch[result.Loss]) string {
		most := slices.MaxFunc(b.of, func(x, y result.Loss) int { return cmp.Compare(x.Ratio.Median, y.Ratio.Median) })
		text := fmt.Sprintf("%s: %s, x %s %s", b.key, most.Case, most.Peer, short(most.Ratio, times))
		if others := len(b.of) - 1; others > 0 {
			text += fmt.Sprintf(", and %d more", others)
		}
		return text
	})
}

// byCase puts losses of the same case together.
func byCase(losses []result.Loss) []bunch[result.Loss] {
	return bunches(losses, func(l result.Loss) string { return l.Case })
}
