package measure

// A Unit names what a value counts, as in the Go benchmark format.
type Unit string

// The units. An operation is one run unless the case says otherwise.
const (
	Time           Unit = "ns/op"
	CPU            Unit = "cpu-ns/op" // user and system
	Rate           Unit = "MB/s"
	Bytes          Unit = "B/op"
	Allocs         Unit = "allocs/op"
	PeakRSS        Unit = "peak-RSS-bytes"       // of the largest process
	PeakRSSBound   Unit = "peak-RSS-bound-bytes" // the same, known only as an upper bound
	PeakMemory     Unit = "peak-memory-bytes"    // heap and stacks
	SubmitterPeak  Unit = "submitter-peak-bytes" // heap and stacks of one of several processes
	WorkerPeak     Unit = "worker-peak-bytes"
	ServerPeak     Unit = "server-peak-bytes"
	PeakGoroutines Unit = "peak-goroutines"
	Goroutines     Unit = "goroutines"    // started by the model
	AtOnce         Unit = "tasks-at-once" // most concurrent tasks
	P50            Unit = "p50-ns"        // half of the records take at most this
	P99            Unit = "p99-ns"        // 99 of 100 records take at most this
	P999           Unit = "p999-ns"       // 999 of 1,000 records take at most this
	Spread         Unit = "spread-ns"     // p99.9 less p50
	Refused        Unit = "refused"       // parts of the arrivals that were not accepted, 0 to 1
	Switches       Unit = "switches/op"   // context switches of the process's threads
	Scheduled      Unit = "scheduled/op"  // how often a goroutine got a CPU, estimated by the runtime's sample of one in eight
	Collections    Unit = "GCs/op"        // garbage collections
	Failures       Unit = "failures"      // jobs that were killed, or whose output is not right
)

// A Sample holds what one run measured.
type Sample map[Unit]float64
