//go:build unix

package bench

import (
	"syscall"
	"time"
)

// ownCPU returns the CPU time of this process and of its children that have ended.
func ownCPU() (d time.Duration) {
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var u syscall.Rusage
		if syscall.Getrusage(who, &u) == nil {
			d += time.Duration(u.Utime.Nano() + u.Stime.Nano())
		}
	}
	return d
}

// switches returns how often threads of this process were switched.
func switches() int64 {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u) // of a process that exists
	return int64(u.Nvcsw) + int64(u.Nivcsw)
}
