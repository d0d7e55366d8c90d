package process

import (
	"bytes"
	"os"
	"strconv"
	"sync/atomic"
	"syscall"

	"golang.org/x/sys/unix"
)

// attributes returns how a process is started: in a group of its own, and killed by the
// kernel when this process dies. For the kernel that is when the thread dies that has started
// it; threads of Go stay, unless a goroutine ends that is locked to one.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// descriptors returns those of a pipe.
func descriptors() (fds [2]int, err error) {
	err = syscall.Pipe2(fds[:], syscall.O_CLOEXEC)
	return fds, err
}

// requestPidfd asks for a descriptor of the process in *fd, which stays -1 if the kernel
// has none. If fd is nil it asks for none.
func requestPidfd(attr *syscall.SysProcAttr, fd *int) { attr.PidFD = fd }

// awaitExit waits for the exit of a child, which it does not reap, and closes its descriptor.
// It needs no thread, unless fd is -1. It reports whether it could wait.
func awaitExit(pid, fd int) bool {
	if fd >= 0 && awaitPidfd(fd) {
		return true
	}
	for {
		switch err := unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil); err {
		case nil, unix.ECHILD:
			return true
		case unix.EINTR:
		default:
			return false
		}
	}
}

// awaitPidfd waits for the exit of the process of a descriptor, and closes the descriptor. It
// reports whether it could.
func awaitPidfd(fd int) bool {
	if unix.SetNonblock(fd, true) != nil {
		unix.Close(fd)
		return false
	}
	f := os.NewFile(uintptr(fd), "process")
	defer f.Close()
	c, err := f.SyscallConn()
	if err != nil {
		return false
	}
	var failed error
	err = c.Read(func(fd uintptr) bool {
		var info unix.Siginfo
		failed = unix.Waitid(unix.P_PIDFD, int(fd), &info, unix.WEXITED|unix.WNOWAIT|unix.WNOHANG, nil)
		return failed != unix.EAGAIN && (failed != nil || info.Signo != 0)
	})
	return err == nil && failed == nil
}

// ownPeak is the most memory that this process is known to have had, in bytes.
var ownPeak atomic.Int64

// maxRSS returns ru_maxrss in bytes, or 0 if that may be the memory of this process: a new
// process shares it until it executes its program, and the kernel counts that.
func maxRSS(usage *syscall.Rusage) int64 {
	n := int64(usage.Maxrss) << 10
	isOwn := func() bool { return n <= ownPeak.Load()*17/16+1<<20 } // the kernel counts roughly
	if isOwn() {
		return 0
	}
	ownPeak.Store(readPeak())
	if isOwn() {
		return 0
	}
	return n
}

// readPeak reads the most memory that this process has had.
func readPeak() int64 {
	text, _ := os.ReadFile("/proc/self/status")
	_, after, _ := bytes.Cut(text, []byte("VmHWM:"))
	number, _, _ := bytes.Cut(bytes.TrimSpace(after), []byte(" kB"))
	n, _ := strconv.ParseInt(string(number), 10, 64)
	return n << 10
}

// status returns the fields of a process from its state on, in the order of proc(5), or nil.
func status(pid int) [][]byte {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return nil
	}
	fields := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
	if len(fields) < 3 {
		return nil
	}
	return fields // state, parent, group
}

// alive reports whether there is such a process, and it has not ended.
func alive(pid int) bool {
	fields := status(pid)
	return fields != nil && !bytes.ContainsAny(fields[0], "ZX")
}

// parent returns the parent of a process, or 0 if it has none here.
func parent(pid int) int {
	fields := status(pid)
	if fields == nil {
		return 0
	}
	n, _ := strconv.Atoi(string(fields[1]))
	return n
}

// onlyZombies reports whether all processes of a group have ended, and the first process of
// the system, whose children they are, has not reaped them: in many containers it never does.
func onlyZombies(group int) bool {
	found := false
	for _, pid := range processes() {
		fields := status(pid)
		if fields == nil || string(fields[2]) != strconv.Itoa(group) {
			continue
		}
		if found = true; !bytes.ContainsAny(fields[0], "ZX") {
			return false
		}
	}
	return found
}
