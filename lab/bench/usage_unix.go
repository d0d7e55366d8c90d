//go:build unix

package bench

import (
	"syscall"
	"time"
)

// own returns the CPU time of this process and of its children that have ended, and how often their threads were switched.
func own() (cpu time.Duration, switches int64) {
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var u syscall.Rusage
		if syscall.Getrusage(who, &u) == nil {
			cpu += time.Duration(u.Utime.Nano() + u.Stime.Nano())
			switches += int64(u.Nvcsw) + int64(u.Nivcsw)
		}
	}
	return cpu, switches
}
