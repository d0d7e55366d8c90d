//go:build unix

package process

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// session returns how a watcher is started.
func session() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// start starts c with these descriptors. await waits for the process.
func (p *Process) start(c *Command, sys *syscall.SysProcAttr, files []*os.File) error {
	reapOnce()
	path, args := c.Path, c.Args
	if c.Nice != 0 { // before the program begins; that of this process would be that of one thread, and hard to restore
		var err error
		if path, err = exec.LookPath("nice"); err != nil { // without PATH, too
			path = "/usr/bin/nice"
		}
		args = append([]string{"nice", "-n", strconv.Itoa(c.Nice), c.Path}, args[1:]...)
	}
	attr := &syscall.ProcAttr{Dir: c.Dir, Env: c.Env, Sys: sys}
	for _, f := range files {
		attr.Files = append(attr.Files, f.Fd())
	}
	children.Lock()
	children.starting++
	children.Unlock()
	pid, err := syscall.ForkExec(path, args, attr)
	if errors.Is(err, syscall.ENOEXEC) { // a script without a first line that says of which shell, as execvp treats it
		pid, err = syscall.ForkExec("/bin/sh", append([]string{"sh", path}, args[1:]...), attr)
	}
	children.Lock()
	defer children.Unlock()
	if children.starting--; children.starting == 0 {
		defer clear(children.unknown)
	}
	if err != nil {
		return c.startError(err)
	}
	p.pid = pid
	children.running[pid] = p
	if n, told := children.unknown[pid]; told && (n.status.Stopped() || syscall.Kill(pid, 0) == syscall.ESRCH) {
		p.take(n) // not of an earlier one with this number
	} else {
		reapLocked(pid)
	}
	return nil
}

// startError returns what is wrong with the directory, if that is why c was not started: the
// kernel does not tell it from the program. Otherwise it returns err.
func (c *Command) startError(err error) error {
	if c.Dir == "" {
		return err
	}
	if _, failed := os.Stat(c.Dir + "/."); failed != nil && errors.Is(failed, err) {
		return fmt.Errorf("directory %q: %v", c.Dir, err)
	}
	return err
}

// reapOnce starts to reap the children of this process, when the kernel tells of one.
var reapOnce = sync.OnceFunc(func() {
	told := make(chan os.Signal, 1)
	signal.Notify(told, syscall.SIGCHLD)
	go func() {
		for ; ; <-told { // some may have ended before
			reap()
		}
	}()
})

// ReapOrphans reaps the children of this process that the package has not started, too, until
// the end of this process: what the shell had started that has executed this program, and in the
// first process of a container, or a subreaper (prctl(2)), all whose parents have ended. It does
// not wait. No other package may start processes then: the ends of these would be lost.
func ReapOrphans() {
	children.Lock()
	children.orphans = true
	children.Unlock()
	reapOnce()
}

// childNews is what the kernel tells of a child: that it has ended, is stopped, or goes on.
type childNews struct {
	status syscall.WaitStatus
	usage  syscall.Rusage
}

// reap reaps the children that have ended, and notes which are stopped.
func reap() {
	children.Lock()
	defer children.Unlock()
	if children.orphans {
		for reapLocked(-1) {
		}
		return
	}
	for pid := range children.running {
		reapLocked(pid)
	}
}

// reapLocked takes what the kernel tells of a child, or of any if pid is -1. It reports whether it
// told of one.
func reapLocked(pid int) bool {
	var n childNews
	pid, err := syscall.Wait4(pid, &n.status, syscall.WNOHANG|syscall.WUNTRACED|syscall.WCONTINUED, &n.usage)
	if p := children.running[pid]; p != nil {
		p.take(n)
	} else if pid > 0 && children.starting > 0 {
		children.unknown[pid] = n
	}
	return pid > 0 || err == syscall.EINTR
}

// take takes what the kernel tells of p. It is called with children locked.
func (p *Process) take(n childNews) {
	r := Result{CPU: time.Duration(n.usage.Utime.Nano() + n.usage.Stime.Nano())}
	switch {
	case n.status.Continued(), n.status.Stopped():
		p.stop(!n.status.Continued())
		return
	case n.status.Signaled():
		r.Signal = int(n.status.Signal())
	default:
		r.Exit = n.status.ExitStatus()
	}
	r.MaxRSS = maxRSS(&n.usage)
	delete(children.running, p.pid)
	p.end(r, !groupExists(p.pid))
}

// signalGroup sends s to the processes of a group, and to its first one, which is not reaped,
// wherever that is. A stopped process continues, to end. It reports whether there is no
// permission to send s to the first one, or to any if that is reaped.
func signalGroup(pid int, s syscall.Signal, first bool) (denied bool) {
	sent := []int{-pid}
	if first && (s == syscall.SIGKILL || !inOwnGroup(pid)) { // a second TERM would be one too many
		sent = append(sent, pid)
	}
	var err error
	for _, n := range sent {
		err = syscall.Kill(n, s)
	}
	for _, n := range sent {
		_ = syscall.Kill(n, syscall.SIGCONT)
	}
	return err == syscall.EPERM
}

func inOwnGroup(pid int) bool {
	group, err := syscall.Getpgid(pid)
	return err == nil && group == pid
}

// groupExists reports whether a group has a process, perhaps one that has ended.
func groupExists(pid int) bool { return syscall.Kill(-pid, 0) != syscall.ESRCH }

func killGroup(pid int) { _ = syscall.Kill(-pid, syscall.SIGKILL) }

// stopGroup stops the processes of a group and its first one, wherever that is, or lets them go
// on.
func stopGroup(pid int, stop bool) {
	s := syscall.SIGCONT
	if stop {
		s = syscall.SIGSTOP
	}
	_ = syscall.Kill(-pid, s)
	if !inOwnGroup(pid) {
		_ = syscall.Kill(pid, s)
	}
}

// A pipe is the end of a pipe from which we read.
type pipe struct {
	fd int
	f  *os.File // of fd, which the runtime waits for; nil: it does not
}

// newPipe returns a pipe, and the end for a process.
func newPipe() (p pipe, w *os.File, err error) {
	fds, err := descriptors()
	if err != nil {
		return pipe{}, nil, os.NewSyscallError("pipe", err)
	}
	_, _ = unix.FcntlInt(uintptr(fds[0]), unix.F_SETFL, unix.O_NONBLOCK) // fails for no descriptor that is open
	return pipe{fd: fds[0]}, os.NewFile(uintptr(fds[1]), "|"), nil
}

// open lets the runtime wait for p.
func (p *pipe) open() { p.f = os.NewFile(uintptr(p.fd), "|") }

func (p *pipe) close() {
	if p.f != nil {
		p.f.Close()
		return
	}
	_ = unix.Close(p.fd)
}

// readAvailable reads what is in the pipe, and returns io.EOF if that is nothing.
func (p *pipe) readAvailable(b []byte) (n int, err error) {
	for {
		n, err = syscall.Read(p.fd, b)
		switch {
		case err == syscall.EINTR:
		case err != nil:
			return 0, err
		case n <= 0:
			return 0, io.EOF
		default:
			return n, nil
		}
	}
}
