package measure

import (
	"io"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"runtime/pprof"
	"time"
)

// A Meter measures one sample of work in this process: N operations between
// Start and Stop.
type Meter struct {
	N     int  // number of operations
	Round int  // -1: warm-up, not counted
	Peaks bool // also measure peak memory and goroutines

	// Scheduling also counts context switches, where the system tells them, and
	// garbage collections.
	Scheduling bool

	// Profile, unless nil, gets a CPU profile of the time between Start and Stop.
	Profile io.Writer

	sample    Sample
	before    runtime.MemStats
	peaks     *peaks
	switches  int64 // before
	scheduled uint64
	began     time.Time
}

// maxLeftover is how much garbage of earlier samples may stay in the heap. The
// runtime lets the heap grow by at least 4 MB before it collects.
const maxLeftover = 256 << 10

// heapAfterGC is the heap size after the last collection for a sample.
var heapAfterGC uint64

// Start starts measuring. It first collects the garbage of earlier samples if
// there is more than maxLeftover, and returns it to the system if peaks are
// measured.
func (m *Meter) Start() {
	runtime.ReadMemStats(&m.before)
	if m.Peaks || m.before.HeapAlloc > heapAfterGC+maxLeftover {
		runtime.GC()
		runtime.ReadMemStats(&m.before)
		heapAfterGC = m.before.HeapAlloc
	}
	heapAfterGC = min(heapAfterGC, m.before.HeapAlloc) // the runtime has collected since
	if m.Peaks {
		debug.FreeOSMemory()
		m.peaks = startPeaks()
		runtime.ReadMemStats(&m.before)
	}
	m.sample = Sample{}
	if m.Scheduling {
		m.switches, _ = switches()
		m.scheduled = scheduled()
	}
	if m.Profile != nil {
		_ = pprof.StartCPUProfile(m.Profile) // an error means that another profile is being taken
	}
	m.began = time.Now()
}

// Stop stops measuring.
func (m *Meter) Stop() {
	took := time.Since(m.began)
	if m.Profile != nil {
		pprof.StopCPUProfile()
	}
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
	if m.Scheduling {
		if now, ok := switches(); ok {
			m.Report(Switches, float64(now-m.switches)/n)
		}
		m.Report(Scheduled, float64(scheduled()-m.scheduled)/n)
		m.Report(Collections, float64(after.NumGC-m.before.NumGC)/n)
	}
}

// Report sets a value of the sample. It is called after Stop, or alone if the
// time of an operation means nothing.
func (m *Meter) Report(u Unit, v float64) {
	if m.sample == nil {
		m.sample = Sample{}
	}
	m.sample[u] = v
}

// Sample returns the sample.
func (m *Meter) Sample() Sample { return m.sample }

// scheduled estimates how often goroutines have got a CPU. The runtime measures the time that
// they waited for it, of one in eight.
func scheduled() uint64 {
	sample := []metrics.Sample{{Name: "/sched/latencies:seconds"}}
	metrics.Read(sample)
	sum := uint64(0)
	for _, n := range sample[0].Value.Float64Histogram().Counts {
		sum += n
	}
	return 8 * sum
}
