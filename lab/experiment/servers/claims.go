package servers

import (
	"fmt"
	"strings"

	"github.com/stint-go/stint/lab/experiment"
	"github.com/stint-go/stint/lab/measure"
	"github.com/stint-go/stint/lab/result"
)

// The conclusions.
const (
	nearBest = "On servers, a call without a limit is about as fast as with the best fixed limit, which differs from server to server."
	learned  = "A second call with the same adaptive limit is as fast as with the best fixed limit."
	short    = "Also short batches take little longer than with the best limit."
)

// claims returns the claims about the cases that were measured.
func claims(r *result.Result) []result.Claim {
	var out []result.Claim
	var all, long []string
	for _, c := range r.Cases {
		all = append(all, c.Name)
		if !strings.Contains(c.Name, "batch=") {
			long = append(long, c.Name)
			out = append(out, experiment.AtMost(1.2, c.Name, nameRange, result.BestSwept, nearBest))
		}
	}
	if len(all) == 0 {
		return nil
	}
	out = append(out, mean(1.1, all, nameRange, nearBest))
	if len(long) > 0 {
		out = append(out, mean(1.05, long, nameAgain, learned))
	}
	return append(out, shortClaims(r)...)
}

// mean claims that a model takes at most bar times as long as with the best fixed limit,
// in the geometric mean of some cases.
func mean(bar float64, cases []string, model, conclusion string) result.Claim {
	c := experiment.AtMost(bar, fmt.Sprintf("mean of %d", len(cases)), model, result.BestSwept, conclusion)
	c.Cases = cases
	return c
}

// shortClaims are about batches.
func shortClaims(r *result.Result) []result.Claim {
	var out []result.Claim
	for _, c := range r.Cases {
		switch {
		case strings.HasPrefix(c.Name, "http/batch="):
			out = append(out, experiment.AtMost(1.6, c.Name, nameRange, nameAll, short))
		case strings.HasPrefix(c.Name, "batch=") && strings.HasSuffix(c.Name, "/wait=0-9ms"):
			out = append(out, result.Claim{Case: c.Name, Model: nameRange, Unit: measure.Time, Form: result.Value, Bar: 14e6, Conclusion: short})
		case strings.HasPrefix(c.Name, "batch="):
			out = append(out, experiment.AtMost(1.35, c.Name, nameRange, result.BestSwept, short))
		}
	}
	return out
}
