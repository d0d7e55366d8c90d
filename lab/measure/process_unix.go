//go:build unix

package measure

import (
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"
)

// usage returns what the system knows of this process or of its ended children.
func usage(who int) (u syscall.Rusage, ok bool) {
	return u, syscall.Getrusage(who, &u) == nil
}

// OwnCPU returns the CPU time that this process has used, user and system.
func OwnCPU() (d time.Duration, ok bool) {
	u, ok := usage(syscall.RUSAGE_SELF)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()), ok
}

// ChildCPU returns the CPU time that the ended children of this process have used.
func ChildCPU() time.Duration {
	u, _ := usage(syscall.RUSAGE_CHILDREN)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// switches returns how often threads of this process have given up or lost their CPU.
func switches() (n int64, ok bool) {
	u, ok := usage(syscall.RUSAGE_SELF)
	return int64(u.Nvcsw) + int64(u.Nivcsw), ok
}

// peakRSS returns the largest resident set of a finished process and its
// awaited descendants.
func peakRSS(s *os.ProcessState) int64 {
	u, ok := s.SysUsage().(*syscall.Rusage)
	switch {
	case !ok:
		return 0
	case runtime.GOOS == "darwin":
		return int64(u.Maxrss)
	}
	return int64(u.Maxrss) << 10
}

// KillGroup makes cmd the leader of a process group, which is killed when cmd's
// context ends. An interrupt from the terminal does not reach the group: the
// laboratory receives it and ends the context.
func KillGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
