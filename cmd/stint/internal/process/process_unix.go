//go:build unix

package process

import (
	"errors"
	"io"
	"os"
	"syscall"
	"time"
)

// start starts c with these standard streams. wait reaps the process.
func (p *Process) start(c *Command, files [3]*os.File) (wait func() Result, err error) {
	attr := &syscall.ProcAttr{Dir: c.Dir, Env: c.Env, Files: make([]uintptr, len(files)), Sys: attributes()}
	for i, f := range files {
		attr.Files[i] = f.Fd()
	}
	pidfd := -1
	requestPidfd(attr.Sys, &pidfd)
	p.pid, err = syscall.ForkExec(c.Path, c.Args, attr)
	if errors.Is(err, syscall.ENOEXEC) { // a script without a first line that says of which shell, as execvp treats it
		p.pid, err = syscall.ForkExec("/bin/sh", append([]string{"sh", c.Path}, c.Args[1:]...), attr)
	}
	if err != nil {
		return nil, err
	}
	if c.Nice != 0 {
		_ = syscall.Setpriority(syscall.PRIO_PGRP, p.pid, c.Nice) // as nice(1), which goes on without
	}
	return func() Result {
		awaitExit(pidfd)
		return reap(p.pid)
	}, nil
}

// reap waits for the end of a child.
func reap(pid int) Result {
	var status syscall.WaitStatus
	var usage syscall.Rusage
	for {
		_, err := syscall.Wait4(pid, &status, 0, &usage)
		if err != syscall.EINTR {
			break
		}
	}
	r := Result{CPU: time.Duration(usage.Utime.Nano() + usage.Stime.Nano()), MaxRSS: int64(usage.Maxrss) * rssUnit}
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

// groupLives reports whether a group has a process.
func groupLives(pid int) bool { return syscall.Kill(-pid, 0) != syscall.ESRCH }

// readAvailable reads what is in the pipe, and returns io.EOF if that is nothing.
func readAvailable(f *os.File, b []byte) (n int, err error) {
	c, err := f.SyscallConn()
	if err != nil {
		return 0, err
	}
	var failed error
	err = c.Control(func(fd uintptr) {
		for {
			n, failed = syscall.Read(int(fd), b)
			if failed != syscall.EINTR {
				return
			}
		}
	})
	switch err = errors.Join(err, failed); {
	case err != nil:
		return 0, err
	case n <= 0:
		return 0, io.EOF
	}
	return n, nil
}
