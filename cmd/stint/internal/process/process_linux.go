package process

import (
	"bytes"
	"crypto/rand"
	"os"
	"strconv"
	"strings"
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

// status returns the state of a process and its group, as in proc(5); 0 if there is none.
func status(pid int) (state byte, group int) {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0, 0
	}
	fields := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
	if len(fields) < 3 {
		return 0, 0
	}
	group, _ = strconv.Atoi(string(fields[2])) // after its parent
	return fields[0][0], group
}

// isStopped reports whether a process is stopped, and not by a debugger.
func isStopped(pid int) bool {
	state, _ := status(pid)
	return state == 'T'
}

// groupLives reports whether a group has a process that has not ended, after its first one was
// reaped. *member is such a process, as far as it is known: then the others are not looked for.
// Those that have ended may be children of a process that does not reap them, as the first one
// of many containers.
func groupLives(pid int, member *int) bool {
	if !groupExists(pid) {
		return false
	}
	ended := false
	in := func(n int) bool {
		state, group := status(n)
		ended = ended || group == pid
		return group == pid && state != 'Z' && state != 'X'
	}
	if in(*member) {
		return true
	}
	for range 2 { // a look misses a process that starts meanwhile
		for _, *member = range processes() {
			if in(*member) {
				return true
			}
		}
	}
	return !ended // perhaps what lives is hidden
}

// processes returns the numbers of all processes.
func processes() []int {
	d, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer d.Close()
	names, _ := d.Readdirnames(-1)
	var all []int
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil {
			all = append(all, pid)
		}
	}
	return all
}

const markVariable = "STINT_RUN"

// newMark returns a variable that processes of this process have, and their children. The
// watcher is told of a process only after it has started, which on busy CPUs may be late.
func newMark() string {
	session, err := unix.Getsid(0)
	if err != nil {
		return ""
	}
	return markVariable + "=" + strconv.Itoa(session) + "-" + rand.Text()
}

// marked returns the groups of processes that have the mark and are in the session of its
// maker: those that have made a session of their own are left alone, and those that have moved
// to the group of the maker.
func marked(mark string) (groups []int) {
	number, _, _ := strings.Cut(strings.TrimPrefix(mark, markVariable+"="), "-")
	session, err := strconv.Atoi(number)
	if err != nil {
		return nil
	}
	maker, _ := syscall.Getpgid(os.Getppid())
	for _, pid := range processes() {
		env, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
		if !bytes.Contains(append([]byte{0}, env...), []byte("\x00"+mark+"\x00")) {
			continue
		}
		group, err := syscall.Getpgid(pid)
		if s, failed := unix.Getsid(pid); err == nil && failed == nil && s == session && group > 1 && group != maker {
			groups = append(groups, group)
		}
	}
	return groups
}
