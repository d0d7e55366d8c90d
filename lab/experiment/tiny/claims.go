package tiny

import (
	"github.com/stint-go/stint/lab/experiment"
	"github.com/stint-go/stint/lab/measure"
	"github.com/stint-go/stint/lab/result"
)

// no is the bar for "no allocations": creating the engine and up to 100 workers
// allocates, divided by the tasks of the sample.
const no = 0.05

// claim adds the claims.
func claim(b *experiment.Bench) {
	const pool, group = "stint.Pool", "stint.Group"
	for _, c := range []string{"limit=2", "limit=100"} {
		b.Claim(
			result.Claim{Case: c, Model: pool, Unit: measure.Time, Form: result.Value, Bar: 32, Stretch: 22},
			result.Claim{Case: c, Model: pool, Unit: measure.Allocs, Form: result.Value, Bar: no},
			result.Claim{Case: c, Model: pool, Unit: measure.Time, Form: result.Ratio, Than: "pond", Bar: 0.5},
			result.Claim{Case: c, Model: pool, Unit: measure.Time, Form: result.Ratio, Than: "errgroup", Bar: 0.2},
			result.Claim{Case: c, Model: group, Unit: measure.Time, Form: result.Value, Bar: 45, Stretch: 30},
			result.Claim{Case: c, Model: group, Unit: measure.Allocs, Form: result.Value, Bar: no},
		)
	}
	for _, m := range []string{pool, group} {
		b.Claim(
			result.Claim{Case: "limit=2/submitters=8", Model: m, Unit: measure.Time, Form: result.Ratio, Than: m, InCase: "limit=2", Bar: 1},
			result.Claim{Case: "limit=2/procs=1", Model: m, Unit: measure.Time, Form: result.Ratio, Than: result.BestPeer, Bar: 1.15},
			result.Claim{Case: "limit=100/procs=1", Model: m, Unit: measure.Time, Form: result.Ratio, Than: result.BestPeer, Bar: 1.15},
		)
	}
	b.Claim(
		result.Claim{Case: "task=100ns/limit=2", Model: pool, Unit: measure.Time, Form: result.Ratio, Than: "direct", Bar: 1.35},
		result.Claim{Case: "tasks=1", Model: "single-stint.Group", Unit: measure.Bytes, Form: result.Value, Bar: 600},
		result.Claim{Case: "tasks=1", Model: "single-stint.Group", Unit: measure.Time, Form: result.Value, Bar: 1000},
		result.Claim{Case: "tasks=1", Model: "single-stint.Group", Unit: measure.Goroutines, Form: result.Value, Bar: 1, Note: "the task's own"},
		result.Claim{Case: "idle", Model: "idle-stint.Pool", Unit: measure.Goroutines, Form: result.Value, Bar: 0},
		result.Claim{Case: "idle", Model: "idle-stint.Pool", Unit: measure.IdleCPU, Form: result.Difference, Than: "nothing", Bar: 100_000, Note: "no CPU: 0.01 %"},
	)
}
