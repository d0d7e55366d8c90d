package loops

import (
	"fmt"

	"github.com/stint-go/stint/lab/engine"
	"github.com/stint-go/stint/lab/experiment"
)

// series is a loop over items of about 2 ns, from one of them to many: package
// par is not slower than the plain loop at any number. On one processor there is
// nothing to gain. The few on all processors are those of few.
func (z sizes) series(yield func(experiment.Study) bool) {
	for _, n := range z.lengths() {
		w := mixed(n)
		for _, procs := range []int{0, 1} {
			if procs == 0 && n <= small {
				continue
			}
			c := experiment.Case{Name: fmt.Sprintf("item=mixed/n=%d", n), Doc: "items of about 2 ns", Ops: z.ops, Processors: procs}
			if procs == 1 {
				c.Name += "/procs=1"
			}
			calls, ranges := c, c
			calls.Reference, calls.Models = "plain-each", models(w, []engine.Loop{engine.PlainEach(), engine.Static(), engine.ParEach()})
			ranges.Name, ranges.Reference, ranges.Models = formRange(c.Name), plainRange, models(w, rangeLoops())
			if !yield(notSlower(calls, parEach, n)) || !yield(notSlower(ranges, parRange, n)) {
				return
			}
		}
	}
}

// small is how many items of a few nanoseconds are not worth a helper.
const small = 10_000

// notSlower is a case with the claim that a model is hardly slower than the
// reference.
func notSlower(c experiment.Case, model string, n int) experiment.Study {
	claim := ratio(c.Name, c.Reference, 1.05)
	if n <= small {
		claim = more(c.Name, c.Reference, n)
	}
	return experiment.One(c, claims([]string{model}, claim)...)
}

// lengths are ten times as long each; the longest two are smaller in a quick run.
func (z sizes) lengths() []int {
	out := []int{1, 10, 100, 1000, 1e4, 1e5}
	for _, n := range []int{z.n(1e6), z.n(1e7)} {
		if n > 1e5 {
			out = append(out, n)
		}
	}
	return out
}
