package tiny

import (
	"github.com/stint-go/stint/lab/experiment"
	"github.com/stint-go/stint/lab/measure"
	"github.com/stint-go/stint/lab/report"
)

// no is the bar for "no allocations": making the engine and up to 100 workers
// takes some, which are shared out over all tasks of the sample.
const no = 0.05

// claim states what the tables must show.
func claim(b *experiment.Bench) {
	const pool, group = "stint.Pool", "stint.Group"
	for _, c := range []string{"limit=2", "limit=100"} {
		b.Claim(
			report.Claim{Case: c, Model: pool, Unit: measure.Time, Form: report.Value, Bar: 32, Stretch: 22},
			report.Claim{Case: c, Model: pool, Unit: measure.Allocs, Form: report.Value, Bar: no},
			report.Claim{Case: c, Model: pool, Unit: measure.Time, Form: report.Ratio, Than: "pond", Bar: 0.5},
			report.Claim{Case: c, Model: pool, Unit: measure.Time, Form: report.Ratio, Than: "errgroup", Bar: 0.2},
			report.Claim{Case: c, Model: group, Unit: measure.Time, Form: report.Value, Bar: 45, Stretch: 30},
			report.Claim{Case: c, Model: group, Unit: measure.Allocs, Form: report.Value, Bar: no},
		)
	}
	for _, m := range []string{pool, group} {
		b.Claim(
			report.Claim{Case: "limit=2/submitters=8", Model: m, Unit: measure.Time, Form: report.Ratio, Than: m, InCase: "limit=2", Bar: 1},
			report.Claim{Case: "limit=2/procs=1", Model: m, Unit: measure.Time, Form: report.Ratio, Than: report.BestPeer, Bar: 1.15},
			report.Claim{Case: "limit=100/procs=1", Model: m, Unit: measure.Time, Form: report.Ratio, Than: report.BestPeer, Bar: 1.15},
		)
	}
	b.Claim(
		report.Claim{Case: "task=100ns/limit=2", Model: pool, Unit: measure.Time, Form: report.Ratio, Than: "direct", Bar: 1.35},
		report.Claim{Case: "tasks=1", Model: "single-stint.Group", Unit: measure.Bytes, Form: report.Value, Bar: 600},
		report.Claim{Case: "tasks=1", Model: "single-stint.Group", Unit: measure.Time, Form: report.Value, Bar: 1000},
		report.Claim{Case: "tasks=1", Model: "single-stint.Group", Unit: measure.Goroutines, Form: report.Value, Bar: 1, Note: "the task's own"},
		report.Claim{Case: "idle", Model: "idle-stint.Pool", Unit: measure.Goroutines, Form: report.Value, Bar: 0},
		report.Claim{Case: "idle", Model: "idle-stint.Pool", Unit: measure.IdleCPU, Form: report.Difference, Than: "nothing", Bar: 100_000, Note: "no CPU: 0.01 %"},
	)
}
