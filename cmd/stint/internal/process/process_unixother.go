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

func groupLives(pid int, _ *int) bool { return groupExists(pid) }

// isStopped is only known on macOS.
var isStopped = func(int) bool { return false }

func newMark() string { return "" }

func marked(string) []int { return nil }
