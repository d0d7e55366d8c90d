package experiment

import (
	"github.com/stint-go/stint/lab/engine"
	"github.com/stint-go/stint/lab/measure"
	"github.com/stint-go/stint/lab/result"
)

// A Case is one setting of a workload and the models that are compared in it.
type Case struct {
	Name       string // key=value, as in the name of a benchmark
	Doc        string // what an op is
	Reference  string // the model that the others are compared with
	Processors int    // GOMAXPROCS; 0: the session's
	Ops        int    // operations a sample; 0: as many as make it long enough to be timed
	Count      int    // samples, unless the session says otherwise; 0: the usual number
	Main       bool   // what a summary shows of the experiment
	Peaks      bool   // measure peaks of memory and goroutines too
	Models     []Model
}

// A Model does the work of a case in one way.
type Model struct {
	result.Model

	// Run does the operation m.N times between m.Start and m.Stop, and checks
	// the result.
	Run func(m *measure.Meter) error
}

// OpenModel is an open-ended engine as a model.
func OpenModel(e engine.Open, run func(m *measure.Meter) error) Model {
	return Model{result.Model{Name: e.Name, Kind: e.Kind, Doc: e.Doc, Unbounded: e.Unbounded}, run}
}

// LoopModel is an engine for finite work as a model.
func LoopModel(e engine.Loop, run func(m *measure.Meter) error) Model {
	return Model{result.Model{Name: e.Name, Kind: e.Kind, Doc: e.Doc, Unbounded: e.Unbounded}, run}
}
