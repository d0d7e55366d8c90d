//go:build unix

package measure

import (
	"syscall"
	"time"
)

// OwnCPU is the processor time that this process has used, user and system.
func OwnCPU() (d time.Duration, ok bool) {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0, false
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()), true
}
