//go:build unix

package advise

import (
	"os/exec"
	"syscall"
	"time"
)

func ownCPU() (d time.Duration, ok bool) {
	var u syscall.Rusage
	ok = syscall.Getrusage(syscall.RUSAGE_SELF, &u) == nil
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()), ok
}

// killGroup makes the end of the context kill the command with its children.
func killGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
