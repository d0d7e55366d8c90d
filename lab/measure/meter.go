package measure

import (
	"runtime"
	"runtime/debug"
	"time"
)

// A Meter measures one sample of work in this process: N operations between
// Start and Stop.
type Meter struct {
	N     int  // how often to do the operation
	Round int  // -1: not counted
	Peaks bool // also measure the peaks of memory and goroutines

	sample Sample
	before runtime.MemStats
	peaks  *peaks
	began  time.Time
}

// Start begins what is measured. Before it, what earlier samples have left is
// collected, and where memory is measured given back to the system too.
func (m *Meter) Start() {
	runtime.GC()
	if m.Peaks {
		debug.FreeOSMemory()
		m.peaks = watchPeaks()
	}
	m.sample = Sample{}
	runtime.ReadMemStats(&m.before)
	m.began = time.Now()
}

// Stop ends what is measured.
func (m *Meter) Stop() {
	took := time.Since(m.began)
	var after runtime.MemStats
	runtime.ReadMemStats(&after)
	if m.peaks != nil {
		memory, goroutines := m.peaks.stop()
		m.Report(PeakMemory, memory)
		m.Report(PeakGoroutines, goroutines)
	}
	n := float64(m.N)
	m.Report(Time, float64(took.Nanoseconds())/n)
	m.Report(Bytes, float64(after.TotalAlloc-m.before.TotalAlloc)/n)
	m.Report(Allocs, float64(after.Mallocs-m.before.Mallocs)/n)
}

// Report adds a value to the sample, or replaces one. It is called after Stop,
// or without Start and Stop where the time of an operation means nothing.
func (m *Meter) Report(u Unit, v float64) {
	if m.sample == nil {
		m.sample = Sample{}
	}
	m.sample[u] = v
}

// Sample returns what was measured.
func (m *Meter) Sample() Sample { return m.sample }
