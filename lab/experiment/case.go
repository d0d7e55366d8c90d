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
	Scheduling bool   // also count context switches and garbage collections
	NoGC       bool   // measured without garbage collections, as with GOGC=off
	Models     []Model

	// The article that has this case, the table of it, and its figures.
	Article result.Article
	Table   string
	Figures []result.Figure
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

// Op returns a model that does an operation by calling op, which checks its result. It ends
// at the first error.
func Op(model result.Model, op func() error) Model {
	return Model{Model: model, Run: func(m *measure.Meter) error {
		m.Start()
		for range m.N {
			if err := op(); err != nil {
				return err
			}
		}
		m.Stop()
		return nil
	}}
}
