package measure

// A Unit is what a number of a sample counts, as the Go benchmark format names
// it.
type Unit string

// The units. Where an operation is not said to be something else, it is one run.
const (
	Time           Unit = "ns/op"
	CPU            Unit = "cpu-ns/op" // user and system
	Rate           Unit = "MB/s"
	Bytes          Unit = "B/op"
	Allocs         Unit = "allocs/op"
	PeakRSS        Unit = "peak-RSS-bytes"       // of the largest process
	PeakRSSBound   Unit = "peak-RSS-bound-bytes" // the same where it is only known to be at most that
	PeakMemory     Unit = "peak-memory-bytes"    // heap and stacks
	SubmitterPeak  Unit = "submitter-peak-bytes" // the same of one process of several
	WorkerPeak     Unit = "worker-peak-bytes"
	ServerPeak     Unit = "server-peak-bytes"
	PeakGoroutines Unit = "peak-goroutines"
	Goroutines     Unit = "goroutines"    // more than before
	AtOnce         Unit = "tasks-at-once" // the most of them
	IdleCPU        Unit = "idle-cpu-ns/s" // used by this process while it waits
	HalfWithin     Unit = "p50-ns"        // what half of the records of a run take at most
	MostWithin     Unit = "p99-ns"        // what 99 of 100 of them take at most
)

// A Sample is what one run measured.
type Sample map[Unit]float64

// Sample puts the usage of a process that read so many bytes into units.
func (u Usage) Sample(bytes int64) Sample {
	s := Sample{
		Time: float64(u.Wall.Nanoseconds()),
		CPU:  float64(u.CPU.Nanoseconds()),
		Rate: float64(bytes) / 1e6 / u.Wall.Seconds(),
	}
	switch {
	case u.PeakRSS == 0:
	case u.hidden():
		s[PeakRSSBound] = float64(u.PeakRSS)
	default:
		s[PeakRSS] = float64(u.PeakRSS)
	}
	return s
}
