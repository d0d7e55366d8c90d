package process

import (
	"os"
	"os/signal"

	"golang.org/x/sys/unix"
)

// isStopped reports whether a process is stopped.
func isStopped(pid int) bool {
	const stopped = 4 // SSTOP of sys/proc.h
	info, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	return err == nil && info.Proc.P_stat == stopped
}

func notifyContinued(c chan<- os.Signal) { signal.Notify(c, unix.SIGCONT) }
