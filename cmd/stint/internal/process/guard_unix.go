//go:build unix

package process

import "syscall"

func session() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

func killGroup(pid int) { _ = syscall.Kill(-pid, syscall.SIGKILL) }

// stopGroup stops the processes of a group and its first one, wherever that is, or lets them go
// on.
func stopGroup(pid int, stop bool) {
	s := syscall.SIGCONT
	if stop {
		s = syscall.SIGSTOP
	}
	_ = syscall.Kill(-pid, s)
	if !inOwnGroup(pid) {
		_ = syscall.Kill(pid, s)
	}
}
