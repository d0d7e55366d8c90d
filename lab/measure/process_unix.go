//go:build unix

package measure

import (
	"os/exec"
	"syscall"
	"time"
)

// OwnCPU returns the CPU time that this process has used, user and system.
func OwnCPU() (d time.Duration, ok bool) {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0, false
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()), true
}

// switches returns how often threads of this process have given up or lost their CPU.
func switches() (n int64, ok bool) {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0, false
	}
	return int64(u.Nvcsw) + int64(u.Nivcsw), true
}

// ChildCPU returns the CPU time that the ended children of this process have used.
func ChildCPU() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_CHILDREN, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// KillGroup makes cmd the leader of a process group, which is killed when cmd's
// context ends. An interrupt from the terminal does not reach the group: the
// laboratory receives it and ends the context.
func KillGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
