package measure

import (
	"os"
	"syscall"
)

// peakRSS is the largest resident set of an ended process and those of its
// descendants that were waited for.
func peakRSS(s *os.ProcessState) int64 {
	if u, ok := s.SysUsage().(*syscall.Rusage); ok {
		return u.Maxrss
	}
	return 0
}

// ownPeak is 0: a child's peak is its own here.
func ownPeak() int64 { return 0 }
