package loops

import (
	"fmt"

	"github.com/stint-go/stint/lab/engine"
	"github.com/stint-go/stint/lab/experiment"
)

// series measures loops over 1 to 10 million items of about 2 ns: package par
// is not slower than a plain loop at any length. The short lists on all
// processors are in few.
func (z sizes) series(yield func(experiment.Study) bool) {
	for _, n := range z.lengths() {
		w := mixed(n)
		for _, procs := range []int{0, 1} {
			if procs == 0 && n <= maxTinyLoop {
				continue
			}
			c := experiment.Case{Name: fmt.Sprintf("item=mixed/n=%d", n), Doc: "items of about 2 ns", Ops: z.ops}
			if procs == 1 {
				c = c.OnOne()
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

// maxTinyLoop is the number of items of a few nanoseconds that do not pay for a
// helper.
const maxTinyLoop = 10_000

// notSlower adds the claim that a model is hardly slower than the reference.
func notSlower(c experiment.Case, model string, n int) experiment.Study {
	claim := ratio(c.Name, c.Reference, 1.05)
	if n <= maxTinyLoop {
		claim = atMostMore(c.Name, c.Reference, n)
	}
	return experiment.One(c, claims([]string{model}, claim)...)
}

// lengths returns powers of ten. The two largest are scaled.
func (z sizes) lengths() []int {
	out := []int{1, 10, 100, 1000, 1e4, 1e5}
	for _, n := range []int{z.n(1e6), z.n(1e7)} {
		if n > 1e5 {
			out = append(out, n)
		}
	}
	return out
}
