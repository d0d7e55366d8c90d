//go:build unix

package advise

import (
	"syscall"
	"time"
)

// processUse returns the CPU time of this process, and a millisecond for each time that one of
// its threads has slept.
func processUse() (cpu, slept time.Duration) {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0, 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()), time.Duration(u.Nvcsw) * time.Millisecond
}
