package sleepers

import (
	"github.com/stint-go/stint/lab/experiment"
	"github.com/stint-go/stint/lab/measure"
	"github.com/stint-go/stint/lab/result"
)

// The conclusions of the survey that the experiment is from.
const (
	plainWins = "Apart from stint, plain goroutines are the fastest for very many tasks that sleep."
	concLeast = "Apart from stint, conc allocates least for very many tasks that sleep, about a tenth of plain goroutines."
)

// atOnce returns our conclusion about a model.
func atOnce(model string) string {
	return model + " takes less time than plain goroutines and also allocates less than conc."
}

// claims returns all claims.
func claims(on experiment.Names) []result.Claim {
	var out []result.Claim
	for _, kase := range on.Both() {
		out = append(out,
			experiment.AtMost(1, kase, "goroutines", result.BestPeer, plainWins),
			allocates(1, kase, "conc", result.BestPeer, concLeast),
			allocates(0.15, kase, "conc", "goroutines", concLeast))
		for _, m := range []string{"stint.Pool", "stint.Group", "stint.Range"} {
			out = append(out, experiment.AtMost(1, kase, m, "goroutines", atOnce(m)), allocates(1, kase, m, "conc", atOnce(m)))
		}
		out = append(out, bars(kase)...)
	}
	for _, m := range []string{"stint.Pool", "stint.Group", "stint.Range"} {
		out = append(out, experiment.AtMost(1.15, on.One, m, result.BestPeer, ""))
	}
	return out
}

// allocates claims that a model allocates at most bar times the bytes of
// another.
func allocates(bar float64, kase, model, than, conclusion string) result.Claim {
	return result.Claim{Case: kase, Model: model, Unit: measure.Bytes, Form: result.Ratio, Than: than, Bar: bar, Conclusion: conclusion}
}

// bars returns the claims about our models.
func bars(kase string) []result.Claim {
	var out []result.Claim
	for _, m := range []string{"stint.Pool", "stint.Group"} {
		out = append(out,
			result.Claim{Case: kase, Model: m, Unit: measure.Time, Form: result.Ratio, Than: "goroutines", Bar: 0.60, Stretch: 0.50},
			result.Claim{Case: kase, Model: m, Unit: measure.Bytes, Form: result.Value, Bar: 8e6, Stretch: 4e6},
			result.Claim{Case: kase, Model: m, Unit: measure.PeakMemory, Form: result.Ratio, Than: "goroutines", Bar: 0.75, Stretch: 0.40},
		)
	}
	return append(out, result.Claim{Case: kase, Model: "stint.Range", Unit: measure.Time, Form: result.Ratio, Than: "floor", Bar: 1.25, Stretch: 1.10})
}
