// Package articles reports what five articles about goroutines warn of.
package articles

import (
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/passes/inspect"
	"golang.org/x/tools/go/analysis/passes/waitgroup"

	"github.com/stint-go/stint/vet/internal/tasks"
)

const doc = `report what five articles about goroutines warn of

It reports, with the call of stint to use and the article that measures it:

  - A goroutine for each element of a slice or map that the function is given or reads,
    for each value of a channel, for each line of a Scanner, or for more than 1,000
    numbers, by go or by Go of a WaitGroup or an errgroup.Group without SetLimit. With
    the load grow memory and latency. What may bound them, or may serve until the
    program ends, is no report: a semaphore, a comparison, a number of workers.
  - WaitGroup.Add in the goroutine that it counts, before which Wait may return. None
    of the articles has it. It is the analyzer waitgroup of go vet, which does not run
    with -vettool.
  - A channel operation, also in a select, for each record from a file or from memory
    whose receiver only computes, or for each number that a goroutine computes from
    another. It costs more than the record.
  - As many workers as CPUs for work that waits for a timer, a network or a database.
    Their CPUs are idle. A factor says that the number was chosen, and is no report;
    neither are processes, which compute on CPUs of their own.

It sees one package at a time, and no report is made of what it cannot see.`

// The articles, as BENCHMARKS.md of stint cites them.
const (
	pools    = `baixiaoustc, "golang并发三板斧系列之二"`
	kennedy  = `William Kennedy, "Scheduling In Go: Part III"`
	goperf   = `goperf.dev, "Goroutine Worker Pools in Go"`
	channels = `Elliott Jin, "Goroutines and Channels Aren't Free"`
)

// Analyzer reports what five articles about goroutines warn of.
var Analyzer = &analysis.Analyzer{
	Name:     "articles",
	Doc:      doc,
	URL:      "https://pkg.go.dev/github.com/stint-go/stint/vet/articles",
	Requires: []*analysis.Analyzer{tasks.Analyzer, inspect.Analyzer},
	Run: func(pass *analysis.Pass) (any, error) {
		tested := *pass
		tested.Report = func(d analysis.Diagnostic) {
			if !strings.HasSuffix(pass.Fset.File(d.Pos).Name(), "_test.go") {
				pass.Report(d)
			}
		}
		c := &checker{&tested, pass.ResultOf[tasks.Analyzer].(*tasks.Package)}
		c.unbounded()
		c.records()
		c.stages()
		c.cpus()
		adds := tested
		adds.Report = func(d analysis.Diagnostic) {
			c.Reportf(d.Pos, "WaitGroup.Add in the goroutine that it counts, before which Wait may return: start it by Go of the WaitGroup, or of a stint.Group")
		}
		return waitgroup.Analyzer.Run(&adds)
	},
}
