package advise

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"golang.org/x/perf/benchunit"
)

// independent says what the advice does not cover.
const independent = `The items must not depend on each other: they ran in any order. If their results must be merged,
measure that too: par.Reduce and par.Sort merge as they go. A list that is cut and not cheaply
merged, as for a bubble sort, gains nothing.`

// String returns the advice as text: the kind of work, a table of the rows, the
// answer with its reason, the code, and the warnings.
func (a *Advice) String() string {
	parts := []string{a.head()}
	if len(a.Rows) > 0 {
		parts = append(parts, a.table())
	}
	if auto := a.adaptive(); auto != nil {
		parts = append(parts, fmt.Sprintf("%s ended with a limit of %.0f; %s.", auto.Name, a.Limit, a.Highest))
	}
	parts = append(parts, fmt.Sprintf("does concurrency pay? %s. %s", a.Answer, a.Reason))
	if a.Best != nil {
		parts = append(parts, "\t"+strings.ReplaceAll(a.Best.Call, "\n", "\n\t"))
	}
	if len(a.Lines) > 0 {
		parts = append(parts, "\t"+strings.Join(a.Lines, "\n\t"))
	}
	for _, w := range a.Warnings {
		parts = append(parts, "warning: "+w+".")
	}
	if len(a.Rows) > 1 {
		parts = append(parts, independent)
	}
	return strings.Join(parts, "\n\n") + "\n"
}

// head describes the function.
func (a *Advice) head() string {
	text := count(a.N) + "."
	if a.Items < a.N {
		text = fmt.Sprintf("%s, of which %d were measured.", count(a.N), a.Items)
	}
	if a.Item.Median == 0 {
		return text
	}
	text += fmt.Sprintf(" One takes %s.", interval(a.Item, seconds))
	if a.Work == Unknown {
		return text + " Whether it computes or waits is not known, since the CPU time is not."
	}
	return text + fmt.Sprintf(" It %s: CPU time is %.0f %% of the time.", a.Work, 100*a.Share.Median)
}

// count returns the number of items in words.
func count(n int) string {
	if n == 1 {
		return "1 item"
	}
	return fmt.Sprintf("%d items", n)
}

// table returns the rows in figures.
func (a *Advice) table() string {
	var b strings.Builder
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(t, "model\trounds\ttime of %d\ttimes as fast [in 95 of 100]\tpays\t\n", a.Items)
	for _, r := range a.Rows {
		fmt.Fprintf(t, "%s\t%d\t%s\t%s\t%s\t\n", r.Name, r.Time.N, seconds(r.Time.Median), interval(r.Speedup, times), r.Pays)
	}
	_ = t.Flush() // into a string
	return strings.TrimRight(b.String(), "\n")
}

// interval returns an estimate with its interval.
func interval(e Estimate, format func(float64) string) string {
	if e.Interval == nil {
		return format(e.Median)
	}
	return fmt.Sprintf("%s [%s, %s]", format(e.Median), format(e.Interval.Lo), format(e.Interval.Hi))
}

func seconds(ns float64) string { return benchunit.Scale(ns/1e9, benchunit.Decimal) + "s" }

func times(ratio float64) string { return fmt.Sprintf("%.3g", ratio) }
