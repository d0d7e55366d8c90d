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
// Where what is, in the order in which a run comes to it:
//
//   - engine, models: the ways to do work that are compared, stint's among them
//   - experiment: below it a package for each experiment, with its workload, cases
//     and claims; where it has another name, as powers for cpu, its comment says so
//   - load, tree: what tasks compute, and the files that they read
//   - measure: samples of time and memory, of this process and of others
//   - stats: medians and their intervals
//   - result: what was measured, as files too, with verdicts and warnings
//   - report, chart: what readers see of it
//   - features: the table of what libraries do, made of tests, for the report
//   - advise: the package behind the command
//   - before: jobs written with other libraries, for the pages below docs
//   - trial, browser: for the tests of these
//   - results: what was committed, a folder a machine; BENCHMARKS.md and a part of
//     README.md are made of it
//
// The exit status is 0 when the experiments ran, whatever the verdicts are, 1
// when one could not run or its results differ, 2 for a wrong command line, and
// 130 after an interrupt or a termination; what was measured until then is
// printed all the same.
package main

import (
	"context"
	"os"

	"github.com/stint-go/stint/lab/experiment/remote"
)

func main() {
	if status, ok := remote.Member(); ok {
		os.Exit(status)
	}
	os.Exit(run(context.Background(), os.Args[1:], os.Stdout, os.Stderr))
}
