package experiment

import (
	"github.com/stint-go/stint/lab/measure"
	"github.com/stint-go/stint/lab/result"
)

// A Case is one setting of a workload and the models compared in it.
type Case struct {
	Name       string // key=value, as in the name of a benchmark
	Doc        string // what an operation is
	Reference  string // the model that others are compared with
	Processors int    // GOMAXPROCS; 0: the session's
	Ops        int    // operations per sample; 0: chosen by time
	Count      int    // default number of samples; 0: the usual number
	Main       bool   // shown in summaries
	Peaks      bool   // also measure peak memory and goroutines
	Models     []Model
}

// OnOne returns the case at GOMAXPROCS 1.
func (c Case) OnOne() Case {
	c.Name += "/procs=1"
	c.Processors = 1
	return c
}

// A Model does the work of a case in one way.
type Model struct {
	result.Model

	// Run does the operation m.N times between m.Start and m.Stop, and checks
	// the results.
	Run func(m *measure.Meter) error
}
