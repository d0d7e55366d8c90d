// Package models holds the ways to process a list that articles about
// goroutines compare: sequential, pipelines, fans, pools, a goroutine per item;
// beside them libraries and stint's one call without an option. A workload is
// written once, as a List.
package models

import (
	"fmt"
	"runtime"

	"github.com/stint-go/stint/lab/engine"
	"github.com/stint-go/stint/lab/experiment"
	"github.com/stint-go/stint/lab/measure"
	"github.com/stint-go/stint/lab/result"
)

// A List is the work: items that each give a number, and the sum of these.
type List struct {
	N    int
	Item func(i int) uint64 // may be called concurrently
	Want uint64             // the sum

	// Gauge, if Item enters and leaves it, counts concurrent items. It costs
	// too much for items shorter than microseconds.
	Gauge *engine.Gauge
}

// Key is added to the result of item i, so that the sum differs if one item ran
// twice and another not at all.
func Key(i int) uint64 { return uint64(i+1) * 0x9e3779b97f4a7c15 }

// Sum processes the list sequentially and returns the sum.
func (l List) Sum() uint64 {
	sum := uint64(0)
	for i := range l.N {
		sum += l.Item(i)
	}
	return sum
}

// A Model processes a list and returns the sum.
type Model struct {
	result.Model

	// New is called before the time starts. run processes the list, any number
	// of times; end releases the rest, after the time.
	New func(l List) (run func() uint64, end func())

	// Goroutines returns how many goroutines the model derives from the number
	// of processors; nil: none are derived.
	Goroutines func() int
}

// Simple returns a model that keeps nothing between two runs.
func Simple(name string, kind result.Kind, doc string, run func(l List) uint64) Model {
	return Model{Model: kind.Model(name, doc), New: func(l List) (func() uint64, func()) {
		return func() uint64 { return run(l) }, func() {}
	}}
}

// Models returns models at work on l, which compare the sum of each run.
func (l List) Models(all ...Model) []experiment.Model {
	var out []experiment.Model
	for _, way := range all {
		out = append(out, experiment.Model{Model: way.Model, Run: func(m *measure.Meter) error { return l.measure(m, way) }})
	}
	return out
}

func (l List) measure(m *measure.Meter, way Model) error {
	run, end := way.New(l)
	defer end()
	if l.Gauge != nil {
		l.Gauge.Reset()
	}
	wrong := 0
	m.Start()
	for range m.N {
		if run() != l.Want {
			wrong++
		}
	}
	m.Stop()
	if wrong > 0 {
		return fmt.Errorf("%d of %d runs over %d items gave another sum", wrong, m.N, l.N)
	}
	if l.Gauge != nil {
		m.Report(measure.AtOnce, float64(l.Gauge.Peak()))
	}
	if way.Goroutines != nil {
		m.Report(measure.Goroutines, float64(way.Goroutines()))
	}
	return nil
}

// Notes for the cases with Case.NoGC and Case.Scheduling.
const (
	NoteNoGC     = "In gc=off nothing is collected while it is measured, as with GOGC=off, which the author used."
	NoteSwitches = "switches/op counts the system's switches between threads, and scheduled/op how often a goroutine got a CPU, an estimate."
)

// TenPerCPU returns the size of the article's largest pool, used as the limit of
// libraries for items that wait.
func TenPerCPU() int { return 10 * runtime.NumCPU() }
