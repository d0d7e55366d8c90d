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

// little is how much earlier samples may leave in the heap. The runtime lets it grow
// by 4 MB at least before it collects.
const little = 256 << 10

// clean is how large the heap was when it was last collected for a sample.
var clean uint64

// Start begins what is measured. Before it, what earlier samples have left is
// collected, if it is more than little, and where memory is measured given back to
// the system too.
func (m *Meter) Start() {
	runtime.ReadMemStats(&m.before)
	if m.Peaks || m.before.HeapAlloc > clean+little {
		runtime.GC()
		runtime.ReadMemStats(&m.before)
		clean = m.before.HeapAlloc
	}
	clean = min(clean, m.before.HeapAlloc) // the runtime has collected more
	if m.Peaks {
		debug.FreeOSMemory()
		m.peaks = watchPeaks()
		runtime.ReadMemStats(&m.before)
	}
	m.sample = Sample{}
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
