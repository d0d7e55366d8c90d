package auto

import (
	"runtime"
	"time"
)

const (
	PromptWakeup = 200 * time.Microsecond // after its wakeup, in which a worker runs that found a free CPU

	minYields       = 4 // before the first timeout
	maxYieldDoubles = 8
)

// AwaitCPU blocks a worker until a CPU is free, the limiter is not crowded, ended
// reports true, or it times out; a nil ended is ignored. late is the time from the
// worker's wakeup until it ran. timeouts is the number of timeouts so far, and the
// result the number afterwards.
//
// A worker that runs promptly replaces a goroutine that waits. A late worker may replace a
// goroutine that was preempted after 10 ms, and is then useless. The two cases cannot be
// told apart if other goroutines compute, so the wait times out after four turns of the run
// queue, about 40 ms if all goroutines compute. Each timeout doubles the next.
func (c *Controller) AwaitCPU(late time.Duration, timeouts int, ended func() bool) int {
	if late < PromptWakeup {
		return timeouts
	}
	for range minYields << min(timeouts, maxYieldDoubles) {
		if !c.Crowded() || ended != nil && ended() {
			return timeouts
		}
		start := time.Now()
		runtime.Gosched()
		if time.Since(start) < shortTask { // no other goroutine was runnable
			return timeouts
		}
	}
	return timeouts + 1
}

// Crowded reports whether more workers have permits than there are CPUs: then a further
// worker helps only if a CPU is free. It reports false up to the minimum, for a limit that
// was set by hand, and for a nil Controller.
func (c *Controller) Crowded() bool {
	if c == nil || c.ended.Load() {
		return false
	}
	running, _ := c.limiter.Load()
	return running > max(runtime.GOMAXPROCS(0), c.config.Min)
}
