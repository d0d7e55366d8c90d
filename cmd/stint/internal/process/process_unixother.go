//go:build unix && !linux

package process

import (
	"runtime"
	"syscall"
)

// maxRSS returns ru_maxrss in bytes.
func maxRSS(usage *syscall.Rusage) int64 {
	if runtime.GOOS == "darwin" || runtime.GOOS == "ios" {
		return int64(usage.Maxrss)
	}
	return int64(usage.Maxrss) << 10
}

func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

func requestPidfd(*syscall.SysProcAttr, *int) {}

func awaitExit(pid, fd int) bool { return false } // reap waits, on a thread

func onlyZombies(int) bool { return false }

func parent(int) int { return 0 } // it is not known

func newMark() string { return "" }

func killMarked(string) {}
