package report

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/stint-go/stint/lab/stats"
)

// Table writes r for a reader: the machine, a line for each row with a star at
// the fastest of its case, the verdicts and the warnings.
func Table(w io.Writer, r *Result) error {
	var b bytes.Buffer
	head(&b, r)
	rows(&b, r)
	if len(r.Verdicts) > 0 {
		fmt.Fprintln(&b, "\nverdicts")
	}
	for _, v := range r.Verdicts {
		fmt.Fprintf(&b, "  %-8s  %s: %s\n", v.Answer, v.Text, times(v.Speedup))
	}
	if len(r.Warnings) > 0 {
		fmt.Fprintln(&b, "\nwarnings")
	}
	for _, warning := range r.Warnings {
		fmt.Fprintf(&b, "  %s: %s\n", warning.Kind, warning.Text)
	}
	fmt.Fprintln(&b)
	_, err := w.Write(b.Bytes())
	return err
}

func head(b *bytes.Buffer, r *Result) {
	fmt.Fprintf(b, "%s: %s\n\n", r.Experiment, r.Workload)
	fmt.Fprintf(b, "command  %s\n", r.Command)
	fmt.Fprintf(b, "machine  %s\n", r.Machine)
	for _, tool := range r.Tools {
		fmt.Fprintf(b, "tool     %s\n", tool)
	}
	for _, m := range r.Models {
		fmt.Fprintf(b, "model    %s: %s\n", m.Name, m.Command)
	}
	fmt.Fprintln(b)
}

func rows(b *bytes.Buffer, r *Result) {
	t := tabwriter.NewWriter(b, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "case\tmodel\tn\tmedian\tmin\tmax\tuser+sys\tpeak RSS\tMB/s\ttimes as fast\t")
	for i := range r.Rows {
		row := &r.Rows[i]
		s := row.summarize()
		star := ""
		if r.fastest(row.Case) == row.Model {
			star = "* "
		}
		speedup := "1"
		if row.Model != row.Against {
			speedup = times(row.Speedup)
		}
		fmt.Fprintf(t, "%s\t%s%s\t%d\t%s\t%s\t%s\t%s\t%s\t%.0f\t%s\t\n", row.Case, star, row.Model, s.N,
			ms(s.Median), ms(s.Min), ms(s.Max), ms(s.CPU), peak(s), s.MBps, speedup)
	}
	_ = t.Flush() // into a buffer
}

// fastest is the model with the smallest median of a case.
func (r *Result) fastest(kase string) string {
	name, best := "", 0.0
	for i := range r.Rows {
		row := &r.Rows[i]
		if row.Case != kase {
			continue
		}
		if s := row.summarize().seconds; name == "" || s < best {
			name, best = row.Model, s
		}
	}
	return name
}

// times writes a speedup with its interval.
func times(e stats.Estimate) string {
	switch in := e.Interval; {
	case e.N == 0:
		return "not measured"
	case in == nil:
		return fmt.Sprintf("%.2f [no interval], n = %d", e.Median, e.N)
	default:
		return fmt.Sprintf("%.2f [%.2f, %.2f] %.0f %%, n = %d", e.Median, in.Lo, in.Hi, 100*in.Confidence, e.N)
	}
}

func ms(d time.Duration) string {
	return fmt.Sprintf("%.1f ms", float64(d)/float64(time.Millisecond))
}

// peak writes a peak of memory, which may be a bound only.
func peak(s summary) string {
	if s.Peak == 0 {
		return "?"
	}
	text := fmt.Sprintf("%.1f MB", float64(s.Peak)/1e6)
	if s.Hidden {
		text = "<= " + text
	}
	return strings.TrimSpace(text)
}
