package measure

import (
	"os"
	"strconv"
	"strings"
	"syscall"
)

// peakRSS is the largest resident set of an ended process and those of its
// descendants that were waited for.
func peakRSS(s *os.ProcessState) int64 {
	if u, ok := s.SysUsage().(*syscall.Rusage); ok {
		return int64(u.Maxrss) << 10
	}
	return 0
}

// ownPeak is the largest resident set of this program so far. It is not asked
// of getrusage, which counts what started this program as part of it.
func ownPeak() int64 {
	status, _ := os.ReadFile("/proc/self/status")
	_, rest, _ := strings.Cut(string(status), "\nVmHWM:")
	line, _, _ := strings.Cut(rest, "\n")
	kb, _ := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(line, "kB")), 10, 64)
	return kb << 10
}
