// Command lab is the laboratory of stint: experiments that measure on your own
// machine what is claimed about stint, beside the tools, libraries and
// hand-written models for the same work.
//
//	go run ./lab list
//	go run ./lab run --quick --out quick
//	go run ./lab report quick
//	go run ./lab run cpu io --procs 1,N --count 10 --out after
//	go run ./lab compare before after
//	go run ./lab advise -- gzip -kf file{}
//
// The models of an experiment do the same work, and what they give is checked.
// They run in turn, in rounds. Printed are medians with intervals, what is
// claimed and whether the figures bear it out, the rows in which a peer is
// faster, and what makes the figures doubtful. With --out DIR a run also writes
// DIR/EXPERIMENT.jsonl, with one JSON object a line and every sample. Report
// makes of it a page of HTML, Markdown, CSV, and the Go benchmark format, which
// benchstat reads; compare puts two runs side by side. Advise measures work of
// the reader's own.
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
