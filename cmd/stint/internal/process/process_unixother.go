//go:build unix && !linux

package process

import (
	"os"
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

// descriptors returns those of a pipe. No process starts before they are closed in it.
func descriptors() (fds [2]int, err error) {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	if err = syscall.Pipe(fds[:]); err == nil {
		syscall.CloseOnExec(fds[0])
		syscall.CloseOnExec(fds[1])
	}
	return fds, err
}

func requestPidfd(*syscall.SysProcAttr, *int) {}

func exitOf(int) *os.File { return nil }

func awaitExit(int, *os.File) bool { return false } // reap waits, on a thread

func isRunning(int) bool { return false }

func memberOf(int, int) int { return -1 } // it is not known

func newMark() string { return "" }

func killMarked(string, func()) {}

func marked(string) (groups []int, bare bool) { return nil, false }

// ReapOrphans does nothing: only on Linux a process may have to.
func ReapOrphans() {}
