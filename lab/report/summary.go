package report

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/stint-go/stint/lab/features"
)

// Summary writes what a reader takes in of the results in a directory: how many
// claims hold, the conclusions, and for each experiment the claims that do not
// hold, all cases in which a peer is faster, and the tables of the main cases.
// The table of features stands in between, with links from the repository's top.
func Summary(w io.Writer, results []*Result, t features.Table, dir string) error {
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
func places(results []*Result) []string {
	all := bunches(results, func(r *Result) string { return fmt.Sprintf("%s: `%s`", r.Machine.Name(), r.Command) })
	return each(all, func(b bunch[*Result]) string {
		return strings.Join(each(b.of, func(r *Result) string { return r.Experiment }), ", ") + ": " + b.key
	})
}

// overview is a table of the experiments.
func overview(b *bytes.Buffer, results []*Result) {
	fmt.Fprintln(b)
	g := grid{head: []string{"experiment", "workload", "claims", "yes", "no", "not sure", "cases", "a peer is faster in"}}
	for _, r := range results {
		count := tallied(r.Verdicts)
		row := []string{fmt.Sprintf("[%s](#%s)", r.Experiment, r.Experiment), r.Workload}
		for _, n := range []int{len(r.Verdicts), count[Yes], count[No], count[NotSure], len(r.Cases), len(byCase(r.Losses()))} {
			row = append(row, fmt.Sprint(n))
		}
		g.rows = append(g.rows, row)
	}
	g.pipes(b)
}

// brief writes what is to be known of one result.
func brief(b *bytes.Buffer, r *Result) {
	fmt.Fprintf(b, "\n## %s\n\n%s.\n", r.Experiment, r.Workload)
	if len(r.Verdicts) > 0 {
		fmt.Fprintf(b, "\n%s.", r.tally())
		if yes := upheld(r); len(yes) > 0 {
			fmt.Fprintf(b, " Yes: %s.", strings.Join(yes, ", "))
		}
		fmt.Fprintln(b)
		missed(b, r)
	}
	behind(b, r)
	paragraph(b, "Reasons to doubt", each(r.Warnings, Warning.text))
	for _, c := range r.main() {
		table(b, r, c)
	}
	paragraph(b, "Models", each(r.shown(), Model.text))
}

// paragraph writes a headed list as a paragraph, if there is anything in it.
func paragraph(b *bytes.Buffer, title string, words []string) {
	if len(words) > 0 {
		fmt.Fprintf(b, "\n%s: %s.\n", title, strings.Join(words, "; "))
	}
}

// shown returns the models of the main cases.
func (r *Result) shown() []Model {
	var out []Model
	for _, c := range r.main() {
		for _, row := range r.in(c.Name) {
			if m := r.model(row.Model); !slices.Contains(out, m) {
				out = append(out, m)
			}
		}
	}
	return out
}

// upheld counts the claims of each model that hold.
func upheld(r *Result) []string {
	return each(bunches(r.answered(Yes), func(v Verdict) string { return v.Model }), func(b bunch[Verdict]) string {
		return fmt.Sprintf("%s %d", b.key, len(b.of))
	})
}

// answered returns the verdicts with an answer.
func (r *Result) answered(a Answer) []Verdict {
	var out []Verdict
	for _, v := range r.Verdicts {
		if v.Answer == a {
			out = append(out, v)
		}
	}
	return out
}

// missed writes the claims that do not hold, or are open, with all figures:
// those that differ only in the case on one line.
func missed(b *bytes.Buffer, r *Result) {
	g := grid{head: []string{"", "claim", "in the case"}}
	for _, a := range []Answer{No, NotSure} {
		for _, same := range bunches(r.answered(a), func(v Verdict) string { return v.bare() }) {
			g.rows = append(g.rows, []string{strong(string(a)), same.key, strings.Join(each(same.of, Verdict.inCase), "; ")})
		}
	}
	if len(g.rows) > 0 {
		fmt.Fprintln(b)
		g.pipes(b)
	}
}

// inCase is the case with what the claim rests on there.
func (v Verdict) inCase() string {
	words := []string{v.Case}
	if v.Note != "" {
		words = append(words, "("+v.Note+")")
	}
	if v.Against != "" {
		words = append(words, "("+v.Against+")")
	}
	return strings.Join(append(words, short(v.Figures, v.Form.format(describe(v.Unit)))), " ")
}

// behind lists the cases in which a peer is faster. Those that an interval which
// holds 1 leaves open are counted.
func behind(b *bytes.Buffer, r *Result) {
	var sure, open []Loss
	for _, l := range r.Losses() {
		if l.Sure() {
			sure = append(sure, l)
		} else {
			open = append(open, l)
		}
	}
	if len(sure) > 0 {
		fmt.Fprintf(b, "\nWhere a peer is faster: the time of ours, measured in that of the fastest peer.\n\n")
		g := grid{head: []string{"case", "fastest peer", "ours"}}
		for _, c := range byCase(sure) {
			ours := each(c.of, func(l Loss) string { return l.Model + " " + short(l.Ratio, times) })
			g.rows = append(g.rows, []string{c.key, c.of[0].Peer, strings.Join(ours, ", ")})
		}
		g.pipes(b)
	}
	paragraph(b, "Where a peer's median is smaller, but the interval holds 1", undecided(open))
}

// undecided counts losses by model, with the greatest.
func undecided(losses []Loss) []string {
	return each(bunches(losses, func(l Loss) string { return l.Model }), func(b bunch[Loss]) string {
		most := slices.MaxFunc(b.of, func(x, y Loss) int { return cmp.Compare(x.Ratio.Median, y.Ratio.Median) })
		text := fmt.Sprintf("%s: %s, x %s %s", b.key, most.Case, most.Peer, short(most.Ratio, times))
		if others := len(b.of) - 1; others > 0 {
			text += fmt.Sprintf(", and %d more", others)
		}
		return text
	})
}

// byCase puts losses of the same case together.
func byCase(losses []Loss) []bunch[Loss] {
	return bunches(losses, func(l Loss) string { return l.Case })
}
