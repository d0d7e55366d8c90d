package documents

import (
	"fmt"
	"strings"

	"github.com/stint-go/stint/lab/measure"
	"github.com/stint-go/stint/lab/models"
	"github.com/stint-go/stint/lab/result"
)

// answers say for each sweep how many documents at once the call without an option
// has found right, and which of the fixed numbers was the fastest.
func answers(r *result.Result) []string {
	var out []string
	for _, c := range r.Cases {
		if !strings.HasPrefix(c.Name, sweeping) {
			continue
		}
		ours, best := r.Row(c.Name, models.NameEach), r.Best(c.Name, measure.Time, func(m result.Model) bool { return m.Sweep != "" })
		if ours == nil || best == nil {
			continue
		}
		out = append(out, fmt.Sprintf("%s: %s without an option works on %.0f at once; of the fixed numbers %s is the fastest, in %.2f of the time.",
			c.Name, ours.Model, ours.Median(measure.AtOnce).Median, best.Model, best.Median(measure.Time).Median/ours.Median(measure.Time).Median))
	}
	return out
}
