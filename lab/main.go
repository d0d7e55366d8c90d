// Command lab is the laboratory of stint: experiments that measure every claim
// about stint on your own machine, beside tools, libraries and hand-written
// models for the same work. docs/design/0016 describes it.
//
//	go run ./lab list
//	go run ./lab run --quick --out quick
//	go run ./lab report quick
//
// The exit status is 0 if the experiments ran, whatever the verdicts, 1 if one
// failed or its results differ, 2 for a wrong command line, and 130 after an
// interrupt, which still prints what was measured.
package main

import (
	"context"
	"os"

	"github.com/stint-go/stint/lab/experiment/cluster"
	"github.com/stint-go/stint/lab/experiment/servers"
)

func main() {
	if status, ok := cluster.Child(); ok {
		os.Exit(status)
	}
	if status, ok := servers.Child(); ok {
		os.Exit(status)
	}
	os.Exit(run(context.Background(), os.Args[1:], os.Stdout, os.Stderr))
}
