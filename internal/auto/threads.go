package auto

import "fmt"

// A task in a system call or in C keeps a thread. The runtime ends the process
// at 10,000 threads (debug.SetMaxThreads), so growth stops long before.
const (
	maxThreads = 2000 // with more in the process no limit grows
	maxInCalls = 128  // a limit grows beyond while fewer than half of its tasks are in calls
)

// threadRoom is room as far as threads decide. The runtime counts the
// goroutines of the whole process: those of others in calls count as tasks.
func (c *ceiling) threadRoom(now, want int) (most int, reason string) {
	c.sample(readThreads, readInCalls)
	if n := c.value(readThreads); n > maxThreads {
		return now, fmt.Sprintf("threads: %d in the process", n)
	}
	if n := c.value(readInCalls); want > maxInCalls && 2*n >= uint64(now) {
		return max(now, maxInCalls), fmt.Sprintf("threads: %d goroutines are in system calls or C", n)
	}
	return want, ""
}
