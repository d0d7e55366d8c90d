package process

import (
	"bytes"
	"errors"
	"os"
	"os/signal"
	"strconv"
	"sync/atomic"
	"syscall"
	"time"

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

// exitOf returns a file of a descriptor of a process, or nil if there is none.
func exitOf(fd int) *os.File {
	if fd < 0 {
		return nil
	}
	if unix.SetNonblock(fd, true) != nil {
		unix.Close(fd)
		return nil
	}
	return os.NewFile(uintptr(fd), "process")
}

// awaitExit waits for the exit of a child, which it does not reap, or for the read deadline of
// exit, which it closes. It needs no thread, unless exit is nil. It reports whether it could wait.
func awaitExit(pid int, exit *os.File) bool {
	if exit != nil && awaitPidfd(exit) {
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

// awaitPidfd waits for the exit of the process of a descriptor, or for its read deadline, and
// closes it. It reports whether it could.
func awaitPidfd(f *os.File) bool {
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
	return errors.Is(err, os.ErrDeadlineExceeded) || err == nil && failed == nil
}

// hasExited reports whether one of some children has exited and was not reaped.
func hasExited(kind, pid int) bool {
	var info unix.Siginfo
	err := unix.Waitid(kind, pid, &info, unix.WEXITED|unix.WNOWAIT|unix.WNOHANG, nil)
	return err == nil && info.Signo != 0
}

// isRunning reports whether a child has not exited.
func isRunning(pid int) bool { return !hasExited(unix.P_PID, pid) }

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

// isStopped reports whether a process is stopped, and not by a debugger.
func isStopped(pid int) bool {
	fields := status(pid)
	return fields != nil && string(fields[0]) == "T"
}

func notifyContinued(c chan<- os.Signal) { signal.Notify(c, unix.SIGCONT) }

// memberOf returns a process of a group that has not ended: last, if it is one. It returns 0 if
// all have ended and are not reaped, as the first process of many containers never does that,
// and -1 if there is none.
func memberOf(group, last int) int {
	in := func(pid int) (ok, lives bool) {
		fields := status(pid)
		ok = fields != nil && string(fields[2]) == strconv.Itoa(group)
		return ok, ok && !bytes.ContainsAny(fields[0], "ZX")
	}
	if _, lives := in(last); lives {
		return last
	}
	found := -1
	for _, pid := range processes() {
		ok, lives := in(pid)
		if lives {
			return pid
		}
		if ok {
			found = 0
		}
	}
	return found
}

// reapInterval is the time between two looks for children that this package has not started.
const reapInterval = time.Second

// ReapOrphans reaps the children that this package has not started, until the end of this
// process: what the shell had started that has executed this program, and in the first process
// of a container, or a subreaper (prctl(2)), all whose parents have ended. It does not wait.
func ReapOrphans() {
	go func() {
		for range time.Tick(reapInterval) {
			if hasExited(unix.P_ALL, 0) { // perhaps one of ours
				reapOrphans()
			}
		}
	}()
}

// reapOrphans reaps the children that have ended and were not started by this package.
func reapOrphans() {
	self := strconv.Itoa(os.Getpid())
	for _, pid := range processes() {
		if fields := status(pid); fields == nil || string(fields[0]) != "Z" || string(fields[1]) != self {
			continue
		}
		starting.Lock()
		if _, ours := children.Load(pid); !ours {
			_, _ = syscall.Wait4(pid, nil, syscall.WNOHANG, nil)
		}
		starting.Unlock()
	}
}
