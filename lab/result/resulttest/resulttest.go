// Package resulttest provides a result for tests.
package resulttest

import (
	"time"

	"github.com/stint-go/stint/lab/measure"
	"github.com/stint-go/stint/lab/result"
)

// Samples returns runs of the given durations in milliseconds.
func Samples(ms ...int) []measure.Sample {
	var out []measure.Sample
	for _, m := range ms {
		d := time.Duration(m) * time.Millisecond
		out = append(out, measure.Usage{Wall: d, CPU: 2 * d, PeakRSS: 8 << 20, Floor: 2 << 20}.Sample(1e6))
	}
	return out
}

// Example returns a result in which one model is twice as fast as the other.
func Example() *result.Result {
	idle := 0.0
	return &result.Result{
		Experiment: "sum",
		Command:    "go run ./lab run sum",
		Workload:   "2 files",
		Processors: 2,
		Machine:    measure.Machine{GOOS: "linux", GOARCH: "amd64", CPU: "A CPU: fast", Go: "go1", Processors: 2, Others: &idle},
		Tools:      []string{"a 1", "b 2"},
		Notes:      []string{"note"},
		Models:     []result.Model{{Name: "gnu", Kind: result.Peer, Doc: "a"}, {Name: "stint", Kind: result.Ours, Doc: "b"}},
		Cases:      []result.Case{{Name: "alg=md5", Doc: "an op is a run", Reference: "gnu", Ops: 1, Count: 6}},
		Rows: []result.Row{
			{Case: "alg=md5", Model: "gnu", Samples: Samples(100, 102, 104, 100, 101, 100)},
			{Case: "alg=md5", Model: "stint", Samples: Samples(50, 51, 52, 50, 50, 50)},
		},
	}
}

// Claim returns a claim about the faster model.
func Claim(f result.Form, bar float64) result.Claim {
	return result.Claim{Case: "alg=md5", Model: "stint", Unit: measure.Time, Form: f, Than: "gnu", Bar: bar}
}
