package measure

import (
	"os"
	"syscall"
)

// peakRSS returns the largest resident set of a finished process and its
// awaited descendants.
func peakRSS(s *os.ProcessState) int64 {
	if u, ok := s.SysUsage().(*syscall.Rusage); ok {
		return u.Maxrss
	}
	return 0
}

// ownPeak returns 0: a child's peak does not include its parent's here.
func ownPeak() int64 { return 0 }
