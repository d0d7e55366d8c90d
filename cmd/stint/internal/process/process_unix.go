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
	p.exit = exitOf(fd)
	return p.wait, nil
}

// fork starts a program. fd is a descriptor of the process, or -1 if the kernel has none.
func fork(path string, args []string, attr *syscall.ProcAttr) (pid, fd int, err error) {
	starting.RLock()
	defer starting.RUnlock()
	fd = -1
	requestPidfd(attr.Sys, &fd)
	pid, err = syscall.ForkExec(path, args, attr)
	if errors.Is(err, syscall.EINVAL) { // an emulator does not know what it was asked for
		requestPidfd(attr.Sys, nil)
		pid, err = syscall.ForkExec(path, args, attr)
	}
	if err == nil {
		children.Store(pid, nil)
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

// wait waits for the exit of p and reaps it, unless p is left.
func (p *Process) wait() (r Result) {
	exited := awaitExit(p.pid, p.exit)
	if !exited {
		r = reap(p.pid) // a signal of this moment could reach a stranger
		children.Delete(p.pid)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case !exited:
	case p.left && isRunning(p.pid):
		p.over = true
		go func() {
			awaitExit(p.pid, nil)
			reapChild(p.pid)
		}()
		return Result{Exit: -1}
	default:
		r = reapChild(p.pid)
	}
	p.reaped, p.left, p.over = true, false, !groupExists(p.pid)
	return r
}

// reapChild reaps a child that has exited.
func reapChild(pid int) Result {
	starting.RLock()
	defer starting.RUnlock()
	children.Delete(pid)
	return reap(pid)
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

// OwnCPU returns the CPU time of this process, without that of others.
func OwnCPU() time.Duration {
	var usage syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &usage) // it cannot fail
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
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

// groupLives reports whether a group has a process that has not ended, after its first one was
// reaped. *member is such a process, as far as it is known: then the others are not looked for.
// Those that have ended may be children of a process that does not reap them.
func groupLives(pid int, member *int) bool {
	if !groupExists(pid) {
		return false
	}
	for range 2 { // a look misses a process that starts meanwhile
		if *member = memberOf(pid, *member); *member != 0 {
			return true
		}
	}
	reapGroup(pid)
	return false
}

// groupExists reports whether a group has a process. It reaps what it finds of the group: those
// whose parents have ended are children of this process if it is the first one of a container.
func groupExists(pid int) bool {
	reapGroup(pid)
	return syscall.Kill(-pid, 0) != syscall.ESRCH
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
