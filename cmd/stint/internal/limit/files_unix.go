//go:build unix

package limit

import (
	"math"
	"syscall"
)

// maxFiles returns how many descriptors this process may have.
func maxFiles() int {
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit) != nil || uint64(limit.Cur) > math.MaxInt32 {
		return math.MaxInt32
	}
	return int(limit.Cur)
}
