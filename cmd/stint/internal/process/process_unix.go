//go:build unix

package process

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// start starts c with these standard streams, and with mark, a variable, unless it is empty.
// wait waits for the process and reaps it.
func (p *Process) start(c *Command, mark string, files [3]*os.File) (wait func() Result, err error) {
	attr := &syscall.ProcAttr{Dir: c.Dir, Env: c.Env, Files: make([]uintptr, len(files)), Sys: attributes()}
	for i, f := range files {
		attr.Files[i] = f.Fd()
	}
	if mark != "" {
		attr.Env = append(slices.Clip(attr.Env), mark)
	}
	path, args := c.Path, c.Args
	if c.Nice != 0 { // the niceness of this process would be that of one thread, and hard to restore
		if path, err = exec.LookPath("nice"); err != nil { // without PATH, too
			path, err = exec.LookPath("/usr/bin/nice")
		}
		if err != nil {
			return nil, err
		}
		args = append([]string{"nice", "-n", strconv.Itoa(c.Nice), c.Path}, c.Args[1:]...)
	}
	var fd int
	p.pid, fd, err = fork(path, args, attr)
	if errors.Is(err, syscall.ENOEXEC) { // a script without a first line that says of which shell, as execvp treats it
		p.pid, fd, err = fork("/bin/sh", append([]string{"sh", path}, args[1:]...), attr)
	}
	if err != nil {
		return nil, c.startError(err)
	}
	return func() Result { return p.wait(fd) }, nil
}

// fork starts a program. fd is a descriptor of the process, or -1 if the kernel has none.
func fork(path string, args []string, attr *syscall.ProcAttr) (pid, fd int, err error) {
	fd = -1
	requestPidfd(attr.Sys, &fd)
	pid, err = syscall.ForkExec(path, args, attr)
	if errors.Is(err, syscall.EINVAL) { // an emulator does not know what it was asked for
		requestPidfd(attr.Sys, nil)
		pid, err = syscall.ForkExec(path, args, attr)
	}
	return pid, fd, err
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

// wait waits for the exit of p and reaps it. fd is its descriptor, or -1.
func (p *Process) wait(fd int) (r Result) {
	exited := awaitExit(p.pid, fd)
	if !exited {
		r = reap(p.pid) // a signal of this moment could reach a stranger
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if exited {
		r = reap(p.pid)
	}
	p.reaped, p.over = true, !groupLives(p.pid, false)
	return r
}

// reap waits for the end of a child.
func reap(pid int) Result {
	var status syscall.WaitStatus
	var usage syscall.Rusage
	for {
		_, err := syscall.Wait4(pid, &status, 0, &usage)
		if err == nil {
			break
		}
		if err != syscall.EINTR {
			return Result{Exit: -1}
		}
	}
	r := Result{CPU: time.Duration(usage.Utime.Nano() + usage.Stime.Nano()), MaxRSS: maxRSS(&usage)}
	if status.Signaled() {
		r.Signal = int(status.Signal())
	} else {
		r.Exit = status.ExitStatus()
	}
	return r
}

// signalGroup sends s to the processes of a group. A stopped process continues, to end.
func signalGroup(pid int, s syscall.Signal) {
	_ = syscall.Kill(-pid, s)
	_ = syscall.Kill(-pid, syscall.SIGCONT)
}

// IsOrphaned reports whether no shell could continue this process if it stopped: neither its
// parent, nor the parent of one in its group, is in another group of the session. The system
// ignores Ctrl-Z for such processes.
func IsOrphaned() bool {
	session, err := unix.Getsid(0)
	for pid := os.Getppid(); err == nil && pid > 0; pid = parent(pid) {
		if s, err := unix.Getsid(pid); err != nil || s != session {
			return true
		}
		if group, err := syscall.Getpgid(pid); err != nil || group != syscall.Getpgrp() {
			return err != nil
		}
	}
	return true
}

func (p *Process) stop()   { p.tell(syscall.SIGSTOP) }
func (p *Process) resume() { p.tell(syscall.SIGCONT) }

// tell sends s to the processes of the group.
func (p *Process) tell(s syscall.Signal) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.over {
		_ = syscall.Kill(-p.pid, s)
	}
}

// groupLives reports whether a group has a process, after its first one was reaped. It reaps
// what it finds of the group: those whose parents have ended are children of this process if
// it is the first one of a container. If zombies is set, those of another parent do not count.
func groupLives(pid int, zombies bool) bool {
	reapGroup(pid)
	if syscall.Kill(-pid, 0) == syscall.ESRCH {
		return false
	}
	for range 2 { // a look misses a process that starts meanwhile
		if !zombies || !onlyZombies(pid) {
			return true
		}
	}
	reapGroup(pid)
	return false
}

// reapGroup reaps the children of this process that have ended in a group.
func reapGroup(pid int) {
	for {
		n, err := syscall.Wait4(-pid, nil, syscall.WNOHANG, nil)
		if n <= 0 && err != syscall.EINTR {
			return
		}
	}
}
