//go:build unix

package process

import "syscall"

func session() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

func killGroup(pid int) { _ = syscall.Kill(-pid, syscall.SIGKILL) }
