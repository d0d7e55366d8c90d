package process

import "golang.org/x/sys/unix"

func init() {
	isStopped = func(pid int) bool {
		const stopped = 4 // SSTOP of sys/proc.h
		info, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
		return err == nil && info.Proc.P_stat == stopped
	}
}
