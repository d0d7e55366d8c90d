package find

import (
	"fmt"
	"strings"

	"github.com/stint-go/stint/lab/measure"
	"github.com/stint-go/stint/lab/models"
	"github.com/stint-go/stint/lab/result"
)

// answers describes, for each sweep, the limit that the call without an option
// has found and the fastest fixed number.
func answers(r *result.Result) []string {
	var out []string
	for _, c := range r.Cases {
		if !strings.HasPrefix(c.Name, sweepPrefix) {
			continue
		}
		ours, best := r.Row(c.Name, models.NameEach), r.Best(c.Name, measure.Time, func(m result.Model) bool { return m.Sweep != "" })
		if ours == nil || best == nil {
			continue
		}
		out = append(out, fmt.Sprintf("%s: %s without an option runs up to %.0f concurrently; the fastest fixed number, %s, takes %.2f of its time.",
			c.Name, ours.Model, ours.Median(measure.AtOnce).Median, best.Model, best.Median(measure.Time).Median/ours.Median(measure.Time).Median))
	}
	return out
}
