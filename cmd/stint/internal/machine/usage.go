package machine

import "time"

// Usage is what a process and its descendants have used since each was started.
//
// It may fall from one reading to the next: when a descendant outlives its parent it is no
// longer found, and when a thread ends what it waited goes with it.
type Usage struct {
	CPU   time.Duration // also of descendants that have ended and were waited for: that to 10 ms
	Wait  time.Duration // that threads which exist were ready to run and waited for a CPU
	RSS   int64         // bytes in memory; what processes share is counted for each
	Ready bool          // one of the processes has a CPU or waits for one

	Largest    int   // the process with the most memory,
	LargestRSS int64 // and its bytes
}
