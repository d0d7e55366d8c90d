package process

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

const rssUnit = 1024 // bytes, of ru_maxrss

// attributes returns how a process is started: in a group of its own, and killed by the
// kernel when this process dies.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// requestPidfd asks for a descriptor of the process in *fd, which stays -1 if the kernel
// has none.
func requestPidfd(attr *syscall.SysProcAttr, fd *int) { attr.PidFD = fd }

// awaitExit waits for the exit of the process of a descriptor, without a thread, and closes
// the descriptor. Without one it returns at once.
func awaitExit(fd int) {
	if fd < 0 {
		return
	}
	if unix.SetNonblock(fd, true) != nil {
		unix.Close(fd)
		return
	}
	f := os.NewFile(uintptr(fd), "process")
	defer f.Close()
	c, err := f.SyscallConn()
	if err != nil {
		return
	}
	_ = c.Read(func(fd uintptr) bool {
		var info unix.Siginfo
		err := unix.Waitid(unix.P_PIDFD, int(fd), &info, unix.WEXITED|unix.WNOWAIT|unix.WNOHANG, nil)
		return err != unix.EAGAIN && (err != nil || info.Signo != 0)
	})
}
