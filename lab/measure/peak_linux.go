package measure

import (
	"os"
	"strconv"
	"strings"
	"syscall"
)

// peakRSS returns the largest resident set of a finished process and its
// awaited descendants.
func peakRSS(s *os.ProcessState) int64 {
	if u, ok := s.SysUsage().(*syscall.Rusage); ok {
		return int64(u.Maxrss) << 10
	}
	return 0
}

// ownPeak returns the largest resident set of this program so far. Unlike
// getrusage, it does not include the parent's.
func ownPeak() int64 {
	status, _ := os.ReadFile("/proc/self/status")
	_, rest, _ := strings.Cut(string(status), "\nVmHWM:")
	line, _, _ := strings.Cut(rest, "\n")
	kb, _ := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(line, "kB")), 10, 64)
	return kb << 10
}
