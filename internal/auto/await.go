package auto

import (
	"runtime"
	"time"
)

const (
	prompt   = 200 * time.Microsecond // after it was made ready a worker runs because a processor became free
	patience = 4                      // times one that comes later lets all others run before it, if they keep it waiting
	patient  = 8                      // times at most that is doubled
)

// Await lets one more worker wait for a free processor, while as many are at work as
// there are processors: crowded says so. late is how long it took from when the worker
// was made ready until it runs.
//
// A goroutine that was made ready runs at once when the one that made it ready, or
// another, waits for something. It also runs when a goroutine that computes has had a
// processor for 10 ms and is put behind it: then one more worker would be of no use.
// Which of the two it was cannot be seen for sure when others in the process compute
// too, so patience ends: after about 40 ms where all compute without a pause, sooner
// where many take turns. Each time it does it is doubled: before is how often it has
// ended, and the result how often it has now.
func Await(late time.Duration, before int, crowded func() bool) int {
	if late < prompt {
		return before
	}
	for range patience << min(before, patient) {
		if !crowded() || processor() {
			return before
		}
	}
	return before + 1
}

// processor reports whether a processor is free for the calling goroutine: it lets
// all others run that can, and sees whether its turn comes back at once.
func processor() bool {
	asked := time.Now()
	runtime.Gosched()
	return time.Since(asked) < look
}

// Crowded reports whether running workers are at least as many as there are processors
// besides one, which is to wait for a free one. There is no waiting below the minimum,
// nor for a limit that was set by hand.
func (c *Controller) Crowded(running int) bool {
	return running > max(runtime.GOMAXPROCS(0), c.config.Min) && !c.fixed.Load()
}
