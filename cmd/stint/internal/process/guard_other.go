//go:build !unix

package process

import (
	"os"
	"syscall"
)

func session() *syscall.SysProcAttr { return nil }

func killGroup(pid int) {
	if child, err := os.FindProcess(pid); err == nil {
		_ = child.Kill()
	}
}

func stopGroup(int, bool) {}
