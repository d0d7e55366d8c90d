package advise

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/stint-go/stint/lab/stats"
	"golang.org/x/perf/benchunit"
)

// width is the width of a terminal.
const width = 80

// String returns the advice as text of at most 80 columns: the kind of work, a
// table and a plot of the rows, the answer with its reason, the code, and the
// warnings.
func (a *Advice) String() string {
	parts := []string{wrap(a.head(), "")}
	if len(a.Rows) > 0 {
		parts = append(parts, a.table())
	}
	if len(a.Rows) > 1 {
		parts = append(parts, plot(a.Rows))
	}
	if notes := a.notes(); notes != "" {
		parts = append(parts, notes)
	}
	parts = append(parts, wrap(fmt.Sprintf("does concurrency pay? %s. %s", a.Answer, a.Reason), ""))
	if a.Call != "" {
		parts = append(parts, "\t"+strings.ReplaceAll(a.Call, "\n", "\n\t"))
	}
	if len(a.Lines) > 0 {
		parts = append(parts, "\t"+strings.Join(a.Lines, "\n\t"))
	}
	var doubts []string
	for _, w := range a.Warnings {
		doubts = append(doubts, wrap("warning: "+w.Kind+": "+w.Text+".", "  "))
	}
	if len(doubts) > 0 {
		parts = append(parts, strings.Join(doubts, "\n"))
	}
	return strings.Join(parts, "\n\n") + "\n"
}

// notes explain the rows.
func (a *Advice) notes() string {
	var lines []string
	if a.Auto != nil {
		lines = append(lines, wrap(a.found(), ""))
	}
	if a.Highest != "" {
		lines = append(lines, wrap(a.Highest+".", ""))
	}
	if len(a.Rows) > 0 && a.Rows[0].Time.Interval != nil {
		lines = append(lines, "Intervals contain the true median in 95 of 100 cases.")
	}
	return strings.Join(lines, "\n")
}

// head describes the function.
func (a *Advice) head() string {
	text := count(a.N)
	if a.Items < a.N && len(a.Rows) > 0 {
		text += fmt.Sprintf(", of which %d were measured", a.Items)
	}
	if a.Item.N == 0 {
		return text + "."
	}
	text += fmt.Sprintf(". One takes %s.", interval(a.Item, seconds))
	if a.Work == Unknown {
		return text + " Whether it computes or waits is not known, since the CPU time is not."
	}
	return text + fmt.Sprintf(" It %s: CPU time is %s %% of the time.", a.Work, percent(a.Share.Median))
}

// count returns the number of items in words.
func count(n int) string {
	if n == 1 {
		return "1 item"
	}
	return fmt.Sprintf("%d items", n)
}

// found describes the adaptive limit.
func (a *Advice) found() string {
	text := fmt.Sprintf("%s ended with a limit of %s", a.adaptive().Name, strconv.FormatFloat(a.Auto.Limit.Median, 'f', -1, 64))
	if a.Auto.Reason != "" {
		text += fmt.Sprintf(" (%s: %s)", a.Auto.Phase, a.Auto.Reason)
	} else if a.Auto.Phase != "" {
		text += fmt.Sprintf(" (%s)", a.Auto.Phase)
	}
	if a.Auto.BestFixed != "" {
		text += fmt.Sprintf(" and took %s times as long as %s, the fastest fixed limit", interval(a.Auto.Ratio, times), a.Auto.BestFixed)
	}
	return text + "."
}

// table returns the rows in figures.
func (a *Advice) table() string {
	var b strings.Builder
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	of := "all"
	if a.Items < a.N {
		of = fmt.Sprint(a.Items)
	}
	fmt.Fprintf(t, "model\tn\ttime of %s\tinterval\tx loop\tinterval\tpays\t\n", of)
	for _, r := range a.Rows {
		speedup, in := times(r.Speedup.Median), bounds(r.Speedup, times)
		if r.Name == loopName {
			speedup, in = "1", ""
		}
		fmt.Fprintf(t, "%s\t%d\t%s\t%s\t%s\t%s\t%s\t\n", r.Name, r.Time.N, seconds(r.Time.Median), bounds(r.Time, seconds), speedup, in, r.Pays)
	}
	_ = t.Flush() // into a string
	return strings.TrimRight(b.String(), "\n")
}

// interval returns an estimate with its interval.
func interval(e stats.Estimate, format func(float64) string) string {
	if e.Interval == nil {
		return format(e.Median)
	}
	return fmt.Sprintf("%s [%s, %s]", format(e.Median), format(e.Interval.Lo), format(e.Interval.Hi))
}

// bounds returns the interval of an estimate, or "".
func bounds(e stats.Estimate, format func(float64) string) string {
	if e.Interval == nil {
		return ""
	}
	return format(e.Interval.Lo) + ".." + format(e.Interval.Hi)
}

func seconds(ns float64) string { return benchunit.Scale(ns/1e9, benchunit.Decimal) + "s" }

func percent(part float64) string { return strconv.FormatFloat(100*part, 'f', 0, 64) }

// times formats a ratio with three digits, fewer below 0.1.
func times(ratio float64) string {
	decimals := 2
	switch a := math.Abs(ratio); {
	case a >= 99.95:
		decimals = 0
	case a >= 9.995:
		decimals = 1
	case a < 0.0995:
		decimals = 3
	}
	return strconv.FormatFloat(ratio, 'f', decimals, 64)
}

// wrap breaks a text into lines, with an indent after the first.
func wrap(text, indent string) string {
	var b strings.Builder
	column := 0
	for i, word := range strings.Fields(text) {
		switch n := len([]rune(word)); {
		case i == 0:
			column = n
		case column+1+n > width:
			b.WriteString("\n" + indent)
			column = len(indent) + n
		default:
			b.WriteString(" ")
			column += 1 + n
		}
		b.WriteString(word)
	}
	return b.String()
}
