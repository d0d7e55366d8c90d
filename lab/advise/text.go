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

// width is that of a terminal.
const width = 80

// String returns the advice for people: what the function is, the rows as a table
// and as a plot, the answer with its reason, the code to write, and the warnings. It
// is at most 80 columns wide.
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
	var doubts []string
	for _, w := range a.Warnings {
		doubts = append(doubts, wrap("warning: "+w.Kind+": "+w.Text+".", "  "))
	}
	if len(doubts) > 0 {
		parts = append(parts, strings.Join(doubts, "\n"))
	}
	return strings.Join(parts, "\n\n") + "\n"
}

// notes are how to read the rows.
func (a *Advice) notes() string {
	var lines []string
	if a.Auto != nil {
		lines = append(lines, wrap(a.found(), ""))
	}
	if a.Highest != "" {
		lines = append(lines, wrap(a.Highest+".", ""))
	}
	if len(a.Rows) > 0 && a.Rows[0].Time.Interval != nil {
		lines = append(lines, "Intervals hold the true median in 95 of 100 cases.")
	}
	return strings.Join(lines, "\n")
}

// head says what the function is.
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
		return text + " Whether it computes or waits is not known: the processor time is not."
	}
	return text + fmt.Sprintf(" It %s: processor time is %s %% of the time.", a.Work, percent(a.Share.Median))
}

// count is so many items.
func count(n int) string {
	if n == 1 {
		return "1 item"
	}
	return fmt.Sprintf("%d items", n)
}

// found says what became of the limit that finds itself.
func (a *Advice) found() string {
	text := fmt.Sprintf("%s ended with a limit of %s", a.self().Name, strconv.FormatFloat(a.Auto.Limit.Median, 'f', -1, 64))
	if a.Auto.Reason != "" {
		text += fmt.Sprintf(" (%s: %s)", a.Auto.Phase, a.Auto.Reason)
	} else if a.Auto.Phase != "" {
		text += fmt.Sprintf(" (%s)", a.Auto.Phase)
	}
	if a.Auto.Beside != "" {
		text += fmt.Sprintf(" and took %s times as long as %s, the fastest of the fixed ones", interval(a.Auto.Ratio, times), a.Auto.Beside)
	}
	return text + "."
}

// table is the rows in figures.
func (a *Advice) table() string {
	var b strings.Builder
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	of := "all"
	if a.Items < a.N {
		of = fmt.Sprint(a.Items)
	}
	fmt.Fprintf(t, "model\tn\ttime of %s\tinterval\tx loop\tinterval\tpays\t\n", of)
	for _, r := range a.Rows {
		speedup, in := times(r.Speedup.Median), span(r.Speedup, times)
		if r.Name == loopName {
			speedup, in = "1", ""
		}
		fmt.Fprintf(t, "%s\t%d\t%s\t%s\t%s\t%s\t%s\t\n", r.Name, r.Time.N, seconds(r.Time.Median), span(r.Time, seconds), speedup, in, r.Pays)
	}
	_ = t.Flush() // into a string
	return strings.TrimRight(b.String(), "\n")
}

// interval is an estimate in words.
func interval(e stats.Estimate, format func(float64) string) string {
	if e.Interval == nil {
		return format(e.Median)
	}
	return fmt.Sprintf("%s [%s, %s]", format(e.Median), format(e.Interval.Lo), format(e.Interval.Hi))
}

// span is the interval of an estimate, or empty.
func span(e stats.Estimate, format func(float64) string) string {
	if e.Interval == nil {
		return ""
	}
	return format(e.Interval.Lo) + ".." + format(e.Interval.Hi)
}

func seconds(ns float64) string { return benchunit.Scale(ns/1e9, benchunit.Decimal) + "s" }

func percent(part float64) string { return strconv.FormatFloat(100*part, 'f', 0, 64) }

// times is a ratio, with three digits unless it is so small that they say nothing.
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

// wrap breaks a text into lines, those after the first one with an indent.
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
