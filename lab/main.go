// Command lab is the laboratory of stint: experiments that measure on your own
// machine what is claimed about stint, beside the tools, libraries and
// hand-written models for the same work.
//
//	go run ./lab list
//	go run ./lab run sleepers tiny loops sort cpu io add find sha hops scan
//	go run ./lab run sum --quick --count 10 --out results
//	go run ./lab report results
//
// The models of an experiment do the same work, and what they give is checked.
// They run in turn, in rounds. Printed are medians with intervals, what is
// claimed and whether the figures bear it out, the rows in which a peer is
// faster, and what makes the figures doubtful. With --out DIR a run also writes
// DIR/EXPERIMENT.txt in the Go benchmark format, which benchstat reads, and
// DIR/EXPERIMENT.jsonl with one JSON object a line, which report reads back and
// writes as Markdown.
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
