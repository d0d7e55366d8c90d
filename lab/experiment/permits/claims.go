package permits

import (
	"github.com/stint-go/stint/lab/experiment"
	"github.com/stint-go/stint/lab/measure"
	"github.com/stint-go/stint/lab/result"
)

// claim adds the claims.
func claim(b *experiment.Bench) {
	for _, m := range []string{"stint.Limit", "stint.Auto"} {
		b.Claim(
			result.Claim{Case: "callers=1", Model: m, Unit: measure.Allocs, Form: result.Value, Bar: 1.05},
			result.Claim{Case: "callers=1", Model: m, Unit: measure.Time, Form: result.Ratio, Than: "semaphore.Weighted", Bar: 2, Note: "although the context is allocated"},
			result.Claim{Case: "callers=1", Model: m, Unit: measure.Time, Form: result.Ratio, Than: "semaphore-context", Bar: 1.5, Note: "with a context, too"},
			result.Claim{Case: "callers=64/sleep=20us", Model: m, Unit: measure.Time, Form: result.Ratio, Than: "semaphore.Weighted", Bar: 1},
		)
	}
	b.Claim(
		result.Claim{Case: "callers=64", Model: "stint.Limit", Unit: measure.Time, Form: result.Ratio, Than: "semaphore-context", Bar: 1.5, Note: "with a context, too"},
		result.Claim{Case: "callers=64/yield", Model: "stint.Limit", Unit: measure.Time, Form: result.Ratio, Than: "semaphore.Weighted", Bar: 1},
	)
}
