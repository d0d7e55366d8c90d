// Command lab is the laboratory of stint: experiments that measure on your own
// machine what is claimed about stint, beside the tools, libraries and
// hand-written models for the same work.
//
//	go run ./lab list
//	go run ./lab run sum
//	go run ./lab run sum --quick --count 10 --out results
//
// An experiment checks first that all its models give the same result. Then it
// runs them in turn, in rounds, and prints medians with intervals, what is
// claimed and whether the figures bear it out, and what makes them doubtful.
// With --out DIR it also writes DIR/EXPERIMENT.txt in the Go benchmark format,
// which benchstat reads, and DIR/EXPERIMENT.jsonl with one JSON object a line.
//
// The exit status is 0 when the experiments ran, whatever the verdicts are, 1
// when one could not run or its results differ, 2 for a wrong command line, and
// 130 after an interrupt or a termination; what was measured until then is
// printed all the same.
package main

import (
	"context"
	"os"
)

func main() {
	os.Exit(run(context.Background(), os.Args[1:], os.Stdout, os.Stderr))
}
