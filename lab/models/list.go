// Package models holds the ways to work through one list that articles about
// goroutines compare: one after the other, pipelines, fans, pools, a goroutine
// an item; beside them the libraries, and stint's one call without an option. A
// workload is written once, as a List.
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
	Item func(i int) uint64 // may be called by many goroutines at once
	Want uint64             // the sum

	// Gauge, if Item enters and leaves it, counts how many items are worked on
	// at once. That costs too much where an item takes less than microseconds.
	Gauge *engine.Gauge
}

// Key is added to what item i gives, so that the sum differs where one item was
// taken twice and another not at all.
func Key(i int) uint64 { return uint64(i+1) * 0x9e3779b97f4a7c15 }

// Sum works through the list and returns what the models must return, for lists
// of which nothing else says it.
func (l List) Sum() uint64 {
	sum := uint64(0)
	for i := range l.N {
		sum += l.Item(i)
	}
	return sum
}

// A Model works through a list and returns the sum.
type Model struct {
	result.Model

	// New is called before the time begins. run works through the list, any
	// number of times; end frees what is left, after the time.
	New func(l List) (run func() uint64, end func())

	// Goroutines is how many it starts by the number of processors that it
	// finds. nil: it does not look for one, or there is nothing to say.
	Goroutines func() int
}

// Simple is a model that keeps nothing between two runs.
func Simple(name string, kind result.Kind, doc string, run func(l List) uint64) Model {
	return Model{Model: result.Model{Name: name, Kind: kind, Doc: doc}, New: func(l List) (func() uint64, func()) {
		return func() uint64 { return run(l) }, func() {}
	}}
}

// Models are models at work on l. The sum of each run is compared with what it
// must be.
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
		m.Report(measure.AtOnce, float64(l.Gauge.Most()))
	}
	if way.Goroutines != nil {
		m.Report(measure.Goroutines, float64(way.Goroutines()))
	}
	return nil
}

// half and all are numbers of goroutines that the articles try, as Many is. They
// take runtime.NumCPU for the number of processors.
func half() int { return max(1, runtime.NumCPU()/2) }
func all() int  { return runtime.NumCPU() }

// Many is how many goroutines the largest of the articles' pools has: what they
// try for items that wait.
func Many() int { return 10 * runtime.NumCPU() }
