package tests

import "syscall"

// dieTogether makes a process end with the one that starts it.
func dieTogether() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
