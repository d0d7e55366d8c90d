//go:build unix && !linux

package process

import (
	"runtime"
	"syscall"
)

// rssUnit is the unit of ru_maxrss in bytes.
var rssUnit int64 = 1024

func init() {
	if runtime.GOOS == "darwin" || runtime.GOOS == "ios" {
		rssUnit = 1
	}
}

func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

func requestPidfd(*syscall.SysProcAttr, *int) {}

func awaitExit(int) {} // reap waits, on a thread
