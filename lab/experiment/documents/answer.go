package documents

import (
	"fmt"
	"strings"

	"github.com/stint-go/stint/lab/measure"
	"github.com/stint-go/stint/lab/models"
	"github.com/stint-go/stint/lab/result"
	"github.com/stint-go/stint/lab/stats"
)

// answers say for each sweep how many documents at once the call without an option
// has found right, and which of the fixed numbers was the fastest.
func answers(r *result.Result) []string {
	fixed := map[string]bool{}
	for _, m := range r.Models {
		fixed[m.Name] = m.Sweep != ""
	}
	var out []string
	for _, c := range r.Cases {
		var best, ours result.Row
		for _, row := range r.Rows {
			switch {
			case row.Case != c.Name || !strings.HasPrefix(c.Name, sweeping):
			case row.Model == models.NameEach:
				ours = row
			case fixed[row.Model] && (best.Model == "" || median(row, measure.Time) < median(best, measure.Time)):
				best = row
			}
		}
		if best.Model != "" && ours.Model != "" {
			out = append(out, fmt.Sprintf("%s: %s without an option works on %.0f at once; of the fixed numbers %s is the fastest, in %.2f of the time.",
				c.Name, ours.Model, median(ours, measure.AtOnce), best.Model, median(best, measure.Time)/median(ours, measure.Time)))
		}
	}
	return out
}

// median is that of the samples of a row.
func median(row result.Row, u measure.Unit) float64 {
	var values []float64
	for _, s := range row.Samples {
		values = append(values, s[u])
	}
	return stats.Median(values).Median
}
